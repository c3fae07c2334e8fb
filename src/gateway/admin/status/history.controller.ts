import { Controller, Get, Query, UsePipes } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { Field } from '../../../contracts/openai/field.decorators.js';
import { fromForm, anyText, whole } from '../../../contracts/openai/field-types.js';
import { type HistoryPoint, type ModelPoint } from '../../../core/status/request-history.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { AdminInputPipe } from '../admin-input.pipe.js';
import { MAX_MINUTES, RequestHistoryService, STEP_S } from './request-history.service.js';

export class HistoryQueryDto {
  @Field(fromForm(whole(1, MAX_MINUTES)), { type: undefined, default: MAX_MINUTES })
  minutes = MAX_MINUTES;

  @Field(anyText('must be the id of a model'), {
    description: 'Canonical id of one model; absent: all.',
    example: 'pocketsphinx-en',
  })
  model?: string;
}

export class ModelPointDto {
  @ApiProperty({ description: 'Accepted into the queue.' }) arrived!: number;
  @ApiProperty() completed!: number;
  @ApiProperty() failed!: number;
  @ApiProperty() cancelled!: number;
  @ApiProperty({ description: 'Rejected by the queue; `arrived` does not count them.' }) refused!: number;
  @ApiProperty({ description: 'At the end of the step.' }) waiting!: number;
  @ApiProperty({ description: 'At the end of the step.' }) in_flight!: number;
  @ApiProperty({ description: 'At the end of the step.' }) oldest_wait_ms!: number;
  @ApiPropertyOptional({ description: 'Of the requests that a worker took in the step; within 5 %.' })
  wait_p50_ms?: number;
  @ApiPropertyOptional() wait_p95_ms?: number;
}

@ApiExtraModels(ModelPointDto)
export class HistoryPointDto {
  @ApiProperty({ description: 'End of the step, Unix seconds.' }) at!: number;
  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(ModelPointDto) },
    description: 'By model. A model with nothing to report is absent: all its numbers are 0.',
  })
  models!: Record<string, ModelPointDto>;
}

export class HistoryDto {
  @ApiProperty({ enum: ['history'] }) object!: 'history';
  @ApiProperty({ example: STEP_S, description: 'Length of a step in seconds.' }) step_s!: number;
  @ApiPropertyOptional({ description: 'Begin of the first step, Unix seconds; absent: no step has ended yet.' })
  from?: number;
  @ApiProperty({ type: [HistoryPointDto] }) points!: HistoryPointDto[];
}

/** The last hour. */
@ApiTags('admin')
@Controller('admin/v1/history')
@UsePipes(AdminInputPipe)
export class AdminHistoryController {
  constructor(private readonly history: RequestHistoryService) {}

  @Get()
  @ApiOperation({
    summary: 'The last hour in steps of 10 s',
    description:
      'Of this gateway since it started. With a shared queue, `waiting` and `in_flight` are of all gateways.',
  })
  @ApiOkResponse({ type: HistoryDto })
  @DescribesErrors('invalid_value')
  find(@Query() { minutes, model }: HistoryQueryDto): HistoryDto {
    const points = this.history.points(minutes).map(point => pointDto(point, model));
    const [first] = points;
    return { object: 'history', step_s: STEP_S, ...(first && { from: first.at - STEP_S }), points };
  }
}

function pointDto({ at, models }: HistoryPoint, model: string | undefined): HistoryPointDto {
  const shown = [...models].filter(([id]) => model === undefined || id === model);
  return { at, models: Object.fromEntries(shown.map(([id, point]) => [id, modelPointDto(point)])) };
}

const modelPointDto = ({ inFlight, oldestWaitMs, waitP50Ms, waitP95Ms, failures: _, ...counts }: ModelPoint) => ({
  ...counts,
  in_flight: inFlight,
  oldest_wait_ms: Math.round(oldestWaitMs),
  ...(waitP50Ms !== undefined && { wait_p50_ms: Math.round(waitP50Ms * 10) / 10 }),
  ...(waitP95Ms !== undefined && { wait_p95_ms: Math.round(waitP95Ms * 10) / 10 }),
});

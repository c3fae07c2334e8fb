import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { type AheadCounts } from '../../core/forecast/decision-log.js';
import { type WaitForecast } from '../../core/forecast/wait-forecast.js';
import { type ChangeKind, type WaitExplanation } from '../../core/forecast/wait-explanation.js';
import { QuantilesDto, quantilesDto } from './forecast.dto.js';
import { RequestDto, requestDto } from './request.dto.js';

class AheadByReasonDto {
  @ApiProperty({ description: 'Realtime requests, before a batch one.' }) priority!: number;
  @ApiProperty({ description: 'Came earlier, or aged batch requests in their turns.' }) age!: number;
  @ApiProperty({ description: 'Came later, of tenants that had less device time.' }) fairness!: number;
}

class CountsAheadDto {
  @ApiProperty() requests!: number;
  @ApiProperty({ description: 'Of the same tenant.' }) own!: number;
  @ApiProperty({ description: 'Other tenants that have some of them.' }) other_tenants!: number;
  @ApiProperty({ type: AheadByReasonDto, description: 'Requests by the reason why they go first.' })
  by!: AheadByReasonDto;
}

class SlotsInUseDto {
  @ApiProperty({ description: 'Requests that the workers of its model have.' }) in_use!: number;
  @ApiProperty({ description: 'Slots of the workers that are ready.' }) total!: number;
}

class WaitChangeDto {
  @ApiProperty({ enum: ['realtime_priority', 'one_more_worker'] }) change!: ChangeKind;
  @ApiProperty({ type: QuantilesDto, description: 'Milliseconds until it would start then.' })
  start_in_ms!: QuantilesDto;
}

/** Absent fields: it is not in the queue of this gateway, and was not lately. */
export class ExplainedRequestDto extends RequestDto {
  @ApiPropertyOptional({ type: CountsAheadDto, description: 'Waiting requests that are dispatched before it.' })
  ahead?: CountsAheadDto;
  @ApiPropertyOptional({
    type: CountsAheadDto,
    description: 'Requests that were dispatched while it waited, of the last 2000 of its model.',
  })
  passed?: CountsAheadDto;
  @ApiPropertyOptional({ type: SlotsInUseDto }) slots?: SlotsInUseDto;
  @ApiPropertyOptional({ type: [WaitChangeDto], description: 'What would let it start clearly sooner.' })
  changes?: WaitChangeDto[];
}

/** @param explanation undefined: only what `GET /v1/requests/{id}` returns is known */
export function explainedDto(
  view: RequestView,
  forecast: WaitForecast | undefined,
  explanation: WaitExplanation | undefined,
): ExplainedRequestDto {
  const request = requestDto(view, forecast);
  if (explanation === undefined) return request;
  const { ahead, passed, slots, changes } = explanation;
  return {
    ...request,
    ...(ahead && { ahead: countsDto(ahead) }),
    passed: countsDto(passed),
    slots: { in_use: slots.inUse, total: slots.total },
    changes: changes.map(({ change, startInMs }) => ({ change, start_in_ms: quantilesDto(startInMs) })),
  };
}

const countsDto = ({ requests, own, otherTenants, by }: AheadCounts): CountsAheadDto => ({
  ...{ requests, own, other_tenants: otherTenants, by },
});

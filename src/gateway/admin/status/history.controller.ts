import { Get, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { AdminController } from '../../http/admin-controller.js';
import { DescribesErrors } from '../../http/openapi/errors.js';
import { Answers } from '../../http/openapi/route.decorator.js';
import { pointDto } from './dto/history-point.dto.js';
import { HistoryQueryDto, HistoryDto } from './dto/history.dto.js';
import { RequestHistoryService, STEP_S } from './request-history.service.js';

/** The last hour. */
@AdminController('history')
export class AdminHistoryController {
  constructor(private readonly history: RequestHistoryService) {}

  @Get()
  @ApiOperation({
    description:
      'Of this gateway since it started. With a shared queue, `waiting` and `in_flight` are of all gateways.',
  })
  @Answers(HistoryDto)
  @DescribesErrors('invalid_value')
  find(@Query() { minutes, model }: HistoryQueryDto) {
    const points = this.history.points(minutes).map(point => pointDto(point, model));
    const [first] = points;
    return {
      object: 'history',
      step_s: STEP_S,
      from: first && first.at - STEP_S,
      points,
    };
  }
}

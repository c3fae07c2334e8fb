import { Body, Controller, Get, HttpCode, Param, Post, Query, UsePipes } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { isLive } from '../../core/dispatch/request-view.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import {
  CancellationDto,
  CancelledRequestsDto,
  CancelRequestsDto,
  FoundRequestDto,
  isListed,
  ListRequestsDto,
  NamedRequestDto,
  requestDto,
  requestFilter,
  RequestListDto,
  requestsAhead,
} from '../requests/request.dto.js';
import { oneNamed } from '../requests/requests.controller.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { AdminInputPipe } from './admin-input.pipe.js';

/** Every request: its state, why it waits, and its cancellation. */
@ApiTags('admin')
@Controller('admin/v1/requests')
@UsePipes(AdminInputPipe)
export class AdminRequestsController {
  constructor(private readonly scheduler: SchedulerService) {}

  @Get()
  @ApiOperation({ summary: 'List requests', description: 'Waiting ones in dispatch order, then running ones.' })
  @ApiOkResponse({ type: RequestListDto })
  async list(@Query() query: ListRequestsDto): Promise<RequestListDto> {
    const views = (await this.scheduler.list(requestFilter(query))).filter(isListed(query));
    const page = views.slice(query.offset, query.offset + query.limit);
    return { total: views.length, data: page.map(requestDto) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'One request, and why it waits' })
  @ApiOkResponse({ type: FoundRequestDto })
  @DescribesErrors('request_not_found')
  async find(@Param('id') id: string, @Query() { tenant }: NamedRequestDto): Promise<FoundRequestDto> {
    const view = oneNamed(await this.scheduler.named(id), tenant);
    if (!view) throw new DomainError('request_not_found', `There is no request ${id}, or it ended too long ago.`);
    if (view.state !== 'queued') return requestDto(view);
    const queued = await this.scheduler.list({ model: view.model, state: 'queued' });
    return { ...requestDto(view), ahead: requestsAhead(view, queued) };
  }

  @Post('cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancel many requests', description: 'Those that match every field given.' })
  @ApiOkResponse({ type: CancelledRequestsDto })
  @DescribesErrors('invalid_value', 'missing_required_parameter', 'invalid_json')
  async cancelMany(@Body() body: CancelRequestsDto): Promise<CancelledRequestsDto> {
    const filter = requestFilter(body);
    if (!body.all && Object.values(filter).every(value => value === undefined)) {
      throw new DomainError('missing_required_parameter', 'Give model, tenant, state or priority, or say "all": true.');
    }
    return { cancelled: await this.scheduler.cancelMany(filter, 'operator') };
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @ApiOperation({ summary: 'Cancel one request' })
  @ApiOkResponse({ type: CancellationDto })
  async cancel(@Param('id') id: string, @Query() { tenant }: NamedRequestDto): Promise<CancellationDto> {
    const view = oneNamed((await this.scheduler.named(id)).filter(isLive), tenant);
    const cancelled = view !== undefined && (await this.scheduler.cancel({ tenant: view.tenant, id }, 'operator'));
    return { request_id: id, cancelled };
  }
}

import { Body, Get, Param, Post, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { isLive, type RequestFilter, type RequestView } from '../../core/dispatch/request-view.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { priorityLevel } from '../../core/request/request-priority.js';
import { CancellationManager } from '../cancellation/cancellation-manager.js';
import { AdminController } from '../http/admin-controller.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { Forecasts } from '../queue/forecasts.js';
import { CancellationDto } from '../requests/dto/cancellation.dto.js';
import { ExplainedRequestDto, explainedDto } from '../requests/dto/explained-request.dto.js';
import { requestDto } from '../requests/dto/request.dto.js';
import { oneNamed } from '../requests/requests.controller.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { WorkRuns } from '../stored-work/work-runs.js';
import { CancelRequestsDto, CancelledRequestsDto } from './dto/cancel-requests.dto.js';
import { ChangePriorityDto } from './dto/change-priority.dto.js';
import { FoundRequestDto, requestsAhead } from './dto/found-request.dto.js';
import { ListRequestsDto, RequestListDto } from './dto/list-requests.dto.js';
import { NamedRequestDto } from './dto/request-choice.dto.js';

/** Every request: its state, why it waits, its cancellation and its priority. */
@AdminController('requests')
export class AdminRequestsController {
  constructor(
    private readonly scheduler: SchedulerService,
    private readonly cancellations: CancellationManager,
    private readonly runs: WorkRuns,
    private readonly forecasts: Forecasts,
  ) {}

  @Get()
  @ApiOperation({ description: 'Waiting ones in dispatch order, then running ones.' })
  @Answers(RequestListDto)
  async list(@Query() query: ListRequestsDto) {
    const views = (await this.scheduler.list(requestFilter(query))).filter(isListed(query));
    const page = views.slice(query.offset, query.offset + query.limit);
    return { total: views.length, data: page.map(view => requestDto(view)) };
  }

  @Get(':id')
  @Answers(FoundRequestDto)
  @DescribesErrors('request_not_found', 'queue_unavailable')
  async find(@Param('id') id: string, @Query() { tenant }: NamedRequestDto) {
    return this.#found(await this.#named(id, tenant));
  }

  @Get(':id/explain')
  @Answers(ExplainedRequestDto)
  @DescribesErrors('request_not_found', 'missing_required_parameter', 'queue_unavailable')
  async explain(@Param('id') id: string, @Query() { tenant }: NamedRequestDto) {
    const view = await this.#named(id, tenant);
    return explainedDto(view, this.forecasts.ofView(view), await this.scheduler.explain(view));
  }

  @Post('cancel')
  @ApiOperation({ description: 'Those that match every field given.' })
  @Answers(CancelledRequestsDto)
  @DescribesErrors('invalid_value', 'missing_required_parameter', 'invalid_json')
  async cancelMany(@Body() body: CancelRequestsDto) {
    const filter = requestFilter(body);
    if (!body.all && Object.values(filter).every(value => value === undefined)) {
      throw new DomainError(
        'missing_required_parameter',
        'Give model, tenant, state or priority, or say "all": true.',
      );
    }
    return { cancelled: await this.cancellations.cancelMany(filter, 'operator') };
  }

  @Post(':id/cancel')
  @Answers(CancellationDto)
  async cancel(@Param('id') id: string, @Query() { tenant }: NamedRequestDto) {
    const view = oneNamed((await this.scheduler.named(id)).filter(isLive), tenant);
    const cancelled =
      view !== undefined && (await this.runs.cancel({ tenant: view.tenant, id }, 'operator'));
    return { request_id: id, cancelled };
  }

  @Post(':id/priority')
  @ApiOperation({
    description:
      'Its place in the other lane follows from its enqueue time, and its age still counts.',
  })
  @Answers(FoundRequestDto)
  @DescribesErrors(
    'invalid_value',
    'missing_required_parameter',
    'request_not_found',
    'request_not_waiting',
    'queue_unavailable',
  )
  async changePriority(
    @Param('id') id: string,
    @Body() { priority }: ChangePriorityDto,
    @Query() query: NamedRequestDto,
  ) {
    const view = await this.#named(id, query.tenant);
    const { state, tenant } = view;
    if (!(await this.scheduler.reprioritize({ tenant, id }, priorityLevel(priority))))
      throw new DomainError(
        'request_not_waiting',
        `The request ${id} does not wait: it is ${state}.`,
      );
    // No list has it while its gateway moves it.
    return this.#found(oneNamed(await this.scheduler.named(id), tenant) ?? { ...view, priority });
  }

  async #found(view: RequestView) {
    const found = requestDto(view, this.forecasts.ofView(view));
    if (view.state !== 'queued') return found;
    const queued = await this.scheduler.list({ model: view.model, state: 'queued' });
    return { ...found, ahead: requestsAhead(view, queued) };
  }

  async #named(id: string, tenant: string | undefined): Promise<RequestView> {
    const view = oneNamed(await this.scheduler.named(id, true), tenant);
    if (view) return view;
    throw new DomainError(
      'request_not_found',
      `There is no request ${id}, or it ended too long ago.`,
    );
  }
}

/** What the scheduler does not choose by: applied to what it lists. */
const isListed =
  ({ search = '', code, min_wait_ms: minWaitMs = 0 }: ListRequestsDto) =>
  (request: RequestView): boolean =>
    request.id.includes(search) &&
    (code === undefined || request.code === code) &&
    request.waitedMs >= minWaitMs;

/** Only the fields of a filter: paging and confirmation are not part of it. */
const requestFilter = ({
  model,
  tenant,
  priority,
  state,
}: ListRequestsDto | CancelRequestsDto): RequestFilter => ({
  model,
  tenant,
  priority,
  state,
});

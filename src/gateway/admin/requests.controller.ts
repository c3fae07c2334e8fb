import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import {
  anyText,
  choiceOf,
  custom,
  fromForm,
  number,
  whole,
} from '../../contracts/openai/field-types.js';
import { Field, RequiredField } from '../../contracts/openai/field.decorators.js';
import { isLive, type RequestFilter, type RequestView } from '../../core/dispatch/request-view.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { type PriorityLabel, priorityLevel } from '../../core/request/request-priority.js';
import { CancellationManager } from '../cancellation/cancellation-manager.js';
import { Strict } from '../http/dto-validation.js';
import { listField, numberField, optionalField, answer } from '../http/openapi/answer.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { Forecasts } from '../queue/forecasts.js';
import {
  CancellationDto,
  PRIORITIES,
  RequestDto,
  requestDto,
  STATUSES,
  ExplainedRequestDto,
  explainedDto,
} from '../requests/request.dto.js';
import { oneNamed } from '../requests/requests.controller.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { WorkRuns } from '../stored-work/work-runs.js';

const LIVE_STATUSES = ['queued', 'running'] as const;

const TENANT = anyText('must be the name of a tenant');

/** Whom a listing shows and a bulk cancel meets. */
class RequestChoiceDto {
  @Field(anyText('must be the id of a model'), {
    description: 'Canonical model id.',
    example: 'pocketsphinx-en',
  })
  model?: string;

  @Field(TENANT, { description: 'Whose requests.', example: 'acme' })
  tenant?: string;

  @Field(choiceOf(PRIORITIES))
  priority?: PriorityLabel;
}

@Strict()
class ListRequestsDto extends RequestChoiceDto {
  @Field(choiceOf(STATUSES), {
    description: 'Absent: queued and running. Ended ones are kept for a while.',
  })
  state?: RequestView['state'];

  @Field(fromForm(whole(1, 1000)), { type: undefined, default: 100 })
  limit = 100;

  @Field(fromForm(whole(0, 10_000_000)), {
    type: undefined,
    default: 0,
    description: 'So many of those that match are left out first.',
  })
  offset = 0;

  @Field(anyText('must be a part of an id'), { description: 'A part of the id.' })
  search?: string;

  @Field(anyText('must be an error code'), {
    description: 'Error code that it ended with.',
    example: 'engine_failed',
  })
  code?: string;

  @Field(fromForm(number(0, Number.MAX_SAFE_INTEGER)), {
    minimum: undefined,
    maximum: undefined,
    description: 'Milliseconds that it has waited, or longer.',
  })
  min_wait_ms?: number;
}

/** What the scheduler does not choose by: applied to what it lists. */
const isListed =
  ({ search = '', code, min_wait_ms: minWaitMs = 0 }: ListRequestsDto) =>
  (request: RequestView): boolean =>
    request.id.includes(search) &&
    (code === undefined || request.code === code) &&
    request.waitedMs >= minWaitMs;

/** Which of several requests of one id is meant: ids are unique within a tenant only. */
@Strict()
class NamedRequestDto {
  @Field(TENANT, {
    description: 'Whose request is meant; needed when several tenants have one of that id.',
  })
  tenant?: string;
}

@Strict()
class ChangePriorityDto {
  @RequiredField(choiceOf(PRIORITIES), { example: 'realtime' })
  priority!: PriorityLabel;
}

@Strict()
class CancelRequestsDto extends RequestChoiceDto {
  @Field(choiceOf(LIVE_STATUSES))
  state?: 'queued' | 'running';

  @Field(custom({ type: Boolean }, value => value === true, 'must be true'), {
    description: 'Say true to cancel everything; needed when no filter is given.',
  })
  all?: true;
}

class RequestsAheadDto extends answer({
  tenant: String,
  requests: numberField('Its requests that are dispatched before this one.'),
}) {}

class FoundRequestDto extends answer(
  {
    ahead: optionalField(
      listField(RequestsAheadDto, 'Who is ahead of it in the queue of its model.'),
    ),
  },
  RequestDto,
) {}

/** @param queued the queued requests of its model */
function requestsAhead(
  { position: own = 0 }: RequestView,
  queued: readonly RequestView[],
): RequestsAheadDto[] {
  const counts = new Map<string, number>();
  for (const { tenant = DEFAULT_TENANT, position = Infinity } of queued)
    if (position < own) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  return [...counts]
    .map(([tenant, requests]) => ({ tenant, requests }))
    .sort((a, b) => b.requests - a.requests);
}

class RequestListDto extends answer({
  total: numberField('Requests that match; `data` holds at most `limit` of them.'),
  data: listField(RequestDto),
}) {}

class CancelledRequestsDto extends answer({
  cancelled: listField(String, { example: ['req_0198a1b2c3d4'] }),
}) {}

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

/** Every request: its state, why it waits, its cancellation and its priority. */
@Controller('admin/v1/requests')
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
  @DescribesErrors('request_not_found')
  async find(@Param('id') id: string, @Query() { tenant }: NamedRequestDto) {
    const view = await this.#named(id, tenant);
    const found = requestDto(view, this.forecasts.ofView(view));
    if (view.state !== 'queued') return found;
    const queued = await this.scheduler.list({ model: view.model, state: 'queued' });
    return { ...found, ahead: requestsAhead(view, queued) };
  }

  @Get(':id/explain')
  @Answers(ExplainedRequestDto)
  @DescribesErrors('request_not_found', 'missing_required_parameter')
  async explain(@Param('id') id: string, @Query() { tenant }: NamedRequestDto) {
    const view = await this.#named(id, tenant);
    return explainedDto(view, this.forecasts.ofView(view), this.forecasts.explain(view));
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
    const { state, tenant } = await this.#named(id, query.tenant);
    if (!(await this.scheduler.reprioritize({ tenant, id }, priorityLevel(priority))))
      throw new DomainError(
        'request_not_waiting',
        `The request ${id} does not wait: it is ${state}.`,
      );
    return this.find(id, { tenant });
  }

  async #named(id: string, tenant: string | undefined): Promise<RequestView> {
    const view = oneNamed(await this.scheduler.named(id), tenant);
    if (view) return view;
    throw new DomainError(
      'request_not_found',
      `There is no request ${id}, or it ended too long ago.`,
    );
  }
}

import { Strict } from '../http/dto-validation.js';
import { Field, RequiredField } from '../../contracts/openai/field.decorators.js';
import {
  choiceOf,
  custom,
  fromForm,
  number,
  anyText,
  whole,
} from '../../contracts/openai/field-types.js';
import {
  anyField,
  choiceField,
  fieldOf,
  flagField,
  listField,
  numberField,
  optionalField,
  textField,
  view,
  type ViewOf,
  viewWith,
} from '../http/openapi/view.js';
import {
  type RequestFilter,
  type RequestView,
  type RequestViewState,
  type WaitsFor,
} from '../../core/dispatch/request-view.js';
import { type WaitForecast } from '../../core/forecast/wait-forecast.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';
import { forecastDto, RequestForecastDto } from './forecast.dto.js';

const REASONS: Readonly<Record<WaitsFor, (view: RequestView) => string>> = {
  worker: ({ model }) => `no worker of ${model} is up`,
  slot: ({ model }) => `every slot of the workers of ${model} that it may use is taken`,
  window: () =>
    'a slot is free and its batch window is open a moment longer, to fill the batch',
  turn: () => 'a slot is free and it goes next',
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

/** The answer to "why does my request wait?", in a sentence or two. */
function explainWait(view: RequestView, forecast?: WaitForecast): string {
  const { state, workerId = 'a worker', position, waitsFor, code, phases } = view;
  const waited = seconds(view.waitedMs);
  if (state === 'running') {
    return `It is at ${workerId}: being prepared, waiting for the device or being computed. It waited ${waited}.`;
  }
  if (state !== 'queued') {
    const ready = phases.readyMs
      ? ` and ${seconds(phases.readyMs)} for the device of ${workerId}`
      : '';
    return `It ended as ${state}${code ? ` (${code})` : ''}. It waited ${waited} in the queue${ready}.`;
  }
  const reason = waitsFor
    ? REASONS[waitsFor](view)
    : 'the scheduler has not reached it yet';
  const aged = view.aged
    ? ' It has aged and is dispatched in turns with realtime requests.'
    : '';
  const again =
    view.attempts > 0 ? ' Its first worker was lost; it keeps its place.' : '';
  const place = `It is number ${position ?? 1} in the queue of ${view.model}`;
  return `${place} and has waited ${waited}: ${reason}.${aged}${again}${forecast ? prospect(forecast) : ''}`;
}

const prospect = ({ startInMs: { p50, p90 } }: WaitForecast): string =>
  ` It will probably start in ${seconds(p50)}, and with 90 % probability within ${seconds(p90)}.`;

const STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;

/**
 * What a request has besides, when its answer is stored (`Prefer:
 * respond-async`, `Idempotency-Key`).
 */
export const StoredFieldsDto = view('StoredFieldsDto', {
  status: optionalField(
    choiceField(STATUSES, 'Of a stored request; ended once its content can be fetched.'),
  ),
  endpoint: optionalField(textField({ example: '/v1/audio/transcriptions' })),
  created_at: optionalField(numberField('Unix seconds.')),
  completed_at: optionalField(numberField('Unix seconds.')),
  expires_at: optionalField(numberField('Unix seconds; afterwards it is forgotten.')),
  status_code: optionalField(
    numberField({ description: 'Status of its answer.', example: 200 }),
  ),
  content_url: optionalField(textField('Its answer as it would have been sent.')),
  result: optionalField(anyField('Its answer, when that is JSON of at most 64 KiB.')),
  error: optionalField(anyField('Why it failed or was cancelled, as in the envelope.')),
});

/** Answer of every cancel route. */
export const CancellationDto = view('CancellationDto', {
  request_id: textField({ example: 'req_0198a1b2c3d4' }),
  cancelled: flagField(
    'true when this call cancelled it; false when it was unknown, finished or cancelled before.',
  ),
});

const PRIORITIES = ['realtime', 'batch'] as const;
const LIVE_STATES = ['queued', 'running'] as const;
const STATES = [...LIVE_STATES, 'completed', 'failed', 'cancelled'] as const;

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
export class ListRequestsDto extends RequestChoiceDto {
  @Field(choiceOf(STATES), {
    description: 'Absent: queued and running. Ended ones are kept for a while.',
  })
  state?: RequestViewState;

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
export const isListed =
  ({ search = '', code, min_wait_ms: minWaitMs = 0 }: ListRequestsDto) =>
  (request: RequestView): boolean =>
    request.id.includes(search) &&
    (code === undefined || request.code === code) &&
    request.waitedMs >= minWaitMs;

/** Which of several requests of one id is meant: ids are unique within a tenant only. */
@Strict()
export class NamedRequestDto {
  @Field(TENANT, {
    description:
      'Whose request is meant; needed when several tenants have one of that id.',
  })
  tenant?: string;
}

@Strict()
export class ChangePriorityDto {
  @RequiredField(choiceOf(PRIORITIES), { example: 'realtime' })
  priority!: PriorityLabel;
}

@Strict()
export class CancelRequestsDto extends RequestChoiceDto {
  @Field(choiceOf(LIVE_STATES))
  state?: 'queued' | 'running';

  @Field(custom({ type: Boolean }, value => value === true, 'must be true'), {
    description: 'Say true to cancel everything; needed when no filter is given.',
  })
  all?: true;
}

const RequestPhasesDto = view('RequestPhasesDto', {
  queue_wait_ms: optionalField(Number),
  batch_wait_ms: optionalField(
    numberField('The part of queue_wait_ms spent waiting for a batch window.'),
  ),
  grpc_ms: optionalField(Number),
  ready_ms: optionalField(
    numberField(
      'The part of grpc_ms spent prepared, waiting for the device of the worker.',
    ),
  ),
  total_ms: optionalField(Number),
});

export const RequestDto = viewWith('RequestDto', StoredFieldsDto, {
  request_id: textField({ example: 'req_0198a1b2c3d4' }),
  model: optionalField(textField('Absent: only the gateway that has it knows.')),
  tenant: optionalField(textField('Whose it is.')),
  priority: choiceField(PRIORITIES),
  state: choiceField(STATES),
  position: optionalField(
    numberField('1-based place in the queue of its model; while queued.'),
  ),
  aged: flagField(
    'BATCH that has its share of the turns beside realtime because of its age.',
  ),
  waits_for: optionalField(
    choiceField(['worker', 'slot', 'window', 'turn'], 'What it waits for; while queued.'),
  ),
  waited_ms: numberField('Milliseconds in the queue.'),
  worker: optionalField(textField('The worker that has it, or had it last.')),
  attempts: numberField('Workers it was given to.'),
  phases: RequestPhasesDto,
  code: optionalField(textField('Error code, once it failed or was cancelled.')),
  explanation: textField('Why it waits, or how it ended, in a sentence.'),
  forecast: optionalField(
    fieldOf(RequestForecastDto, 'While it waits or runs; absent: unknown.'),
  ),
});

const RequestsAheadDto = view('RequestsAheadDto', {
  tenant: String,
  requests: numberField('Its requests that are dispatched before this one.'),
});

export const FoundRequestDto = viewWith('FoundRequestDto', RequestDto, {
  ahead: optionalField(
    listField(RequestsAheadDto, 'Who is ahead of it in the queue of its model.'),
  ),
});

/** @param queued the queued requests of its model */
export function requestsAhead(
  { position: own = 0 }: RequestView,
  queued: readonly RequestView[],
): ViewOf<typeof RequestsAheadDto>[] {
  const counts = new Map<string, number>();
  for (const { tenant = DEFAULT_TENANT, position = Infinity } of queued)
    if (position < own) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  return [...counts]
    .map(([tenant, requests]) => ({ tenant, requests }))
    .sort((a, b) => b.requests - a.requests);
}

export const RequestListDto = view('RequestListDto', {
  total: numberField('Requests that match; `data` holds at most `limit` of them.'),
  data: listField(RequestDto),
});

export const CancelledRequestsDto = view('CancelledRequestsDto', {
  cancelled: listField(String, { example: ['req_0198a1b2c3d4'] }),
});

export const requestDto = (
  request: RequestView,
  forecast?: WaitForecast,
): ViewOf<typeof RequestDto> => ({
  request_id: request.id,
  model: request.model,
  tenant: request.tenant,
  priority: request.priority,
  state: request.state,
  position: request.position,
  aged: request.aged,
  waits_for: request.waitsFor,
  waited_ms: microseconds(request.waitedMs),
  worker: request.workerId,
  attempts: request.attempts,
  phases: phasesDto(request.phases),
  code: request.code,
  explanation: explainWait(request, forecast),
  forecast: forecast && forecastDto(forecast),
});

const phasesDto = (phases: RequestView['phases']): ViewOf<typeof RequestPhasesDto> => ({
  queue_wait_ms: microseconds(phases.queueWaitMs),
  batch_wait_ms: microseconds(phases.batchWaitMs),
  grpc_ms: microseconds(phases.grpcMs),
  ready_ms: microseconds(phases.readyMs),
  total_ms: microseconds(phases.totalMs),
});

/** Only the fields of a filter: paging and confirmation are not part of it. */
export const requestFilter = ({
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

/** Milliseconds to the microsecond: more digits are noise of the clock. */
function microseconds(ms: number): number;
function microseconds(ms: number | undefined): number | undefined;
function microseconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1000;
}

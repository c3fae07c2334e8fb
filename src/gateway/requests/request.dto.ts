import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Field, RequiredField } from '../../contracts/openai/field.decorators.js';
import { choiceOf, custom, fromForm, number, anyText, whole } from '../../contracts/openai/field-types.js';
import {
  type RequestFilter,
  type RequestView,
  type RequestViewState,
  type WaitsFor,
} from '../../core/dispatch/request-view.js';
import { type WaitForecast } from '../../core/forecast/wait-forecast.js';
import { DEFAULT_TENANT } from '../../core/request/request-key.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';
import { type ErrorCode } from '../../core/shared/domain-error.js';
import { forecastDto, RequestForecastDto } from './forecast.dto.js';

const REASONS: Readonly<Record<WaitsFor, (view: RequestView) => string>> = {
  worker: ({ model }) => `no worker of ${model} is up`,
  slot: ({ model }) => `every slot of the workers of ${model} that it may use is taken`,
  window: () => 'a slot is free and its batch window is open a moment longer, to fill the batch',
  turn: () => 'a slot is free and it goes next',
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

/** The answer to "why does my request wait?", in a sentence or two. */
export function explainWait(view: RequestView, forecast?: WaitForecast): string {
  const { state, workerId = 'a worker', position, waitsFor, code, phases } = view;
  const waited = seconds(view.waitedMs);
  if (state === 'running') {
    return `It is at ${workerId}: being prepared, waiting for the device or being computed. It waited ${waited}.`;
  }
  if (state !== 'queued') {
    const ready = phases.readyMs ? ` and ${seconds(phases.readyMs)} for the device of ${workerId}` : '';
    return `It ended as ${state}${code ? ` (${code})` : ''}. It waited ${waited} in the queue${ready}.`;
  }
  const reason = waitsFor ? REASONS[waitsFor](view) : 'the scheduler has not reached it yet';
  const aged = view.aged ? ' It has aged and is dispatched in turns with realtime requests.' : '';
  const again = view.attempts > 0 ? ' Its first worker was lost; it keeps its place.' : '';
  const place = `It is number ${position ?? 1} in the queue of ${view.model}`;
  return `${place} and has waited ${waited}: ${reason}.${aged}${again}${forecast ? prospect(forecast) : ''}`;
}

const prospect = ({ startInMs: { p50, p90 } }: WaitForecast): string =>
  ` It will probably start in ${seconds(p50)}, and with 90 % probability within ${seconds(p90)}.`;

const STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;

/** What a request has besides, when its answer is stored (`Prefer: respond-async`, `Idempotency-Key`). */
export class StoredFieldsDto {
  @ApiPropertyOptional({ enum: STATUSES, description: 'Of a stored request; ended once its content can be fetched.' })
  status?: (typeof STATUSES)[number];

  @ApiPropertyOptional({ example: '/v1/audio/transcriptions' }) endpoint?: string;
  @ApiPropertyOptional({ description: 'Unix seconds.' }) created_at?: number;
  @ApiPropertyOptional({ description: 'Unix seconds.' }) completed_at?: number;
  @ApiPropertyOptional({ description: 'Unix seconds; afterwards it is forgotten.' }) expires_at?: number;
  @ApiPropertyOptional({ description: 'Status of its answer.', example: 200 }) status_code?: number;
  @ApiPropertyOptional({ description: 'Its answer as it would have been sent.' }) content_url?: string;
  @ApiPropertyOptional({ description: 'Its answer, when that is JSON of at most 64 KiB.', type: Object })
  result?: unknown;
  @ApiPropertyOptional({ description: 'Why it failed or was cancelled, as in the envelope.', type: Object })
  error?: unknown;
}

/** Answer of every cancel route. */
export class CancellationDto {
  @ApiProperty({ example: 'req_0198a1b2c3d4' })
  request_id!: string;

  @ApiProperty({
    description: 'true when this call cancelled it; false when it was unknown, finished or cancelled before.',
  })
  cancelled!: boolean;
}

const PRIORITIES = ['realtime', 'batch'] as const;
const LIVE_STATES = ['queued', 'running'] as const;
const STATES = [...LIVE_STATES, 'completed', 'failed', 'cancelled'] as const;

const TENANT = anyText('must be the name of a tenant');

/** Whom a listing shows and a bulk cancel meets. */
class RequestChoiceDto {
  @Field(anyText('must be the id of a model'), { description: 'Canonical model id.', example: 'pocketsphinx-en' })
  model?: string;

  @Field(TENANT, { description: 'Whose requests.', example: 'acme' })
  tenant?: string;

  @Field(choiceOf(PRIORITIES))
  priority?: PriorityLabel;
}

export class ListRequestsDto extends RequestChoiceDto {
  @Field(choiceOf(STATES), { description: 'Absent: queued and running. Ended ones are kept for a while.' })
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

  @Field(anyText('must be an error code'), { description: 'Error code that it ended with.', example: 'engine_failed' })
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
  (view: RequestView): boolean =>
    view.id.includes(search) && (code === undefined || view.code === code) && view.waitedMs >= minWaitMs;

/** Which of several requests of one id is meant: ids are unique within a tenant only. */
export class NamedRequestDto {
  @Field(TENANT, { description: 'Whose request is meant; needed when several tenants have one of that id.' })
  tenant?: string;
}

export class ChangePriorityDto {
  @RequiredField(choiceOf(PRIORITIES), { example: 'realtime' })
  priority!: PriorityLabel;
}

export class CancelRequestsDto extends RequestChoiceDto {
  @Field(choiceOf(LIVE_STATES))
  state?: 'queued' | 'running';

  @Field(custom({ type: Boolean }, value => value === true, 'must be true'), {
    description: 'Say true to cancel everything; needed when no filter is given.',
  })
  all?: true;
}

export class RequestPhasesDto {
  @ApiPropertyOptional() queue_wait_ms?: number;
  @ApiPropertyOptional({ description: 'The part of queue_wait_ms spent waiting for a batch window.' })
  batch_wait_ms?: number;
  @ApiPropertyOptional() grpc_ms?: number;
  @ApiPropertyOptional({ description: 'The part of grpc_ms spent prepared, waiting for the device of the worker.' })
  ready_ms?: number;
  @ApiPropertyOptional() total_ms?: number;
}

export class RequestDto extends StoredFieldsDto {
  @ApiProperty({ example: 'req_0198a1b2c3d4' }) request_id!: string;
  @ApiPropertyOptional({ type: String, description: 'Absent: only the gateway that has it knows.' })
  model?: string | undefined;
  @ApiPropertyOptional({ description: 'Whose it is.' }) tenant?: string;
  @ApiProperty({ enum: PRIORITIES }) priority!: PriorityLabel;
  @ApiProperty({ enum: STATES }) state!: RequestViewState;
  @ApiPropertyOptional({ description: '1-based place in the queue of its model; while queued.' }) position?: number;
  @ApiProperty({ description: 'BATCH that has its share of the turns beside realtime because of its age.' })
  aged!: boolean;
  @ApiPropertyOptional({ enum: ['worker', 'slot', 'window', 'turn'], description: 'What it waits for; while queued.' })
  waits_for?: string;
  @ApiProperty({ description: 'Milliseconds in the queue.' }) waited_ms!: number;
  @ApiPropertyOptional({ description: 'The worker that has it, or had it last.' }) worker?: string;
  @ApiProperty({ description: 'Workers it was given to.' }) attempts!: number;
  @ApiProperty({ type: RequestPhasesDto }) phases!: RequestPhasesDto;
  @ApiPropertyOptional({ type: String, description: 'Error code, once it failed or was cancelled.' }) code?: ErrorCode;
  @ApiProperty({ description: 'Why it waits, or how it ended, in a sentence.' }) explanation!: string;
  @ApiPropertyOptional({ type: RequestForecastDto, description: 'While it waits or runs; absent: unknown.' })
  forecast?: RequestForecastDto;
}

export class RequestsAheadDto {
  @ApiProperty() tenant!: string;
  @ApiProperty({ description: 'Its requests that are dispatched before this one.' }) requests!: number;
}

export class FoundRequestDto extends RequestDto {
  @ApiPropertyOptional({ type: [RequestsAheadDto], description: 'Who is ahead of it in the queue of its model.' })
  ahead?: RequestsAheadDto[];
}

/** @param queued the queued requests of its model */
export function requestsAhead(view: RequestView, queued: readonly RequestView[]): RequestsAheadDto[] {
  const counts = new Map<string, number>();
  for (const { tenant = DEFAULT_TENANT, position = Infinity } of queued)
    if (position < (view.position ?? 0)) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  return [...counts].map(([tenant, requests]) => ({ tenant, requests })).sort((a, b) => b.requests - a.requests);
}

export class RequestListDto {
  @ApiProperty({ description: 'Requests that match; `data` holds at most `limit` of them.' }) total!: number;
  @ApiProperty({ type: [RequestDto] }) data!: RequestDto[];
}

export class CancelledRequestsDto {
  @ApiProperty({ type: [String], example: ['req_0198a1b2c3d4'] }) cancelled!: string[];
}

export function requestDto(view: RequestView, forecast?: WaitForecast): RequestDto {
  const { id, model, tenant, priority, state, position, aged, waitsFor, waitedMs, workerId, attempts, phases, code } =
    view;
  return {
    ...{ request_id: id, model, tenant, priority, state, position, aged, attempts, code },
    waits_for: waitsFor,
    waited_ms: microseconds(waitedMs),
    worker: workerId,
    phases: {
      queue_wait_ms: microseconds(phases.queueWaitMs),
      batch_wait_ms: microseconds(phases.batchWaitMs),
      grpc_ms: microseconds(phases.grpcMs),
      ready_ms: microseconds(phases.readyMs),
      total_ms: microseconds(phases.totalMs),
    },
    explanation: explainWait(view, forecast),
    ...(forecast && { forecast: forecastDto(forecast) }),
  };
}

/** Only the fields of a filter: paging and confirmation are not part of it. */
export const requestFilter = ({
  model,
  tenant,
  priority,
  state,
}: ListRequestsDto | CancelRequestsDto): RequestFilter => ({
  ...{ model, tenant, priority, state },
});

/** Milliseconds to the microsecond: more digits are noise of the clock. */
function microseconds(ms: number): number;
function microseconds(ms: number | undefined): number | undefined;
function microseconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1000;
}

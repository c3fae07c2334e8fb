import { type RequestView } from '../../../core/dispatch/request-view.js';
import { type WaitForecast } from '../../../core/forecast/forecast-view.js';
import { PRIORITY_LABELS } from '../../../core/request/request-priority.js';
import {
  choiceField,
  fieldOf,
  flagField,
  numberField,
  optionalField,
  textField,
  answer,
} from '../../http/openapi/answer.js';
import { explainWait } from '../explain-wait.js';
import { RequestForecastDto, forecastDto } from './request-forecast.dto.js';
import { StoredFieldsDto, STATUSES } from './stored-fields.dto.js';

class RequestPhasesDto extends answer({
  queue_wait_ms: optionalField(Number),
  batch_wait_ms: optionalField(
    numberField('The part of queue_wait_ms spent waiting for a batch window.'),
  ),
  grpc_ms: optionalField(Number),
  ready_ms: optionalField(
    numberField('The part of grpc_ms spent prepared, waiting for the device of the worker.'),
  ),
  total_ms: optionalField(Number),
}) {}

export class RequestDto extends answer(
  {
    request_id: textField({ example: 'req_0198a1b2c3d4' }),
    model: optionalField(textField('Absent: only the gateway that has it knows.')),
    tenant: optionalField(textField('Whose it is.')),
    priority: choiceField(PRIORITY_LABELS),
    state: choiceField(STATUSES),
    position: optionalField(numberField('1-based place in the queue of its model; while queued.')),
    aged: flagField('BATCH that has its share of the turns beside realtime because of its age.'),
    waits_for: optionalField(
      choiceField(
        ['device', 'worker', 'slot', 'window', 'turn'],
        'What it waits for, while queued; device: its model is to be loaded on one.',
      ),
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
  },
  StoredFieldsDto,
) {}

export const requestDto = (request: RequestView, forecast?: WaitForecast): RequestDto => ({
  request_id: request.id,
  model: request.model,
  tenant: request.tenant,
  priority: request.priority,
  state: request.state,
  position: request.position,
  aged: request.aged,
  waits_for: request.waitsFor,
  created_at: Math.floor(request.createdAtMs / 1000),
  endpoint: request.route,
  waited_ms: microseconds(request.waitedMs),
  worker: request.workerId,
  attempts: request.attempts,
  phases: phasesDto(request.phases),
  code: request.code,
  explanation: explainWait(request, forecast),
  forecast: forecast && forecastDto(forecast),
});

const phasesDto = (phases: RequestView['phases']): RequestPhasesDto => ({
  queue_wait_ms: microseconds(phases.queueWaitMs),
  batch_wait_ms: microseconds(phases.batchWaitMs),
  grpc_ms: microseconds(phases.grpcMs),
  ready_ms: microseconds(phases.readyMs),
  total_ms: microseconds(phases.totalMs),
});

/** Milliseconds to the microsecond: more digits are noise of the clock. */
const microseconds = <T extends number | undefined>(ms: T): T =>
  (ms && Math.round(ms * 1000) / 1000) as T;

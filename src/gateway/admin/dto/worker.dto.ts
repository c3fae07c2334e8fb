import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import {
  anyField,
  choiceField,
  flagField,
  listField,
  numberField,
  optionalField,
  textField,
  answer,
} from '../../http/openapi/answer.js';
import { WORKER_STATES, type WorkerView } from '../../worker-pool/worker-view.js';
import { WorkerSlotsDto, WorkerExitDto } from './worker-process.dto.js';

export class WorkerDto extends answer({
  id: textField({ example: 'moonshine-tiny-en-0' }),
  model: String,
  address: optionalField(textField({ example: '127.0.0.1:41033' })),
  pid: optionalField(Number),
  device: optionalField(textField({ example: 'cuda:0' })),
  state: choiceField(WORKER_STATES),
  slots: WorkerSlotsDto,
  streams: numberField('Live streams it takes besides files.'),
  streams_in_use: numberField('Of these, taken now.'),
  drained: flagField('An operator drained it: nothing is sent to it until it is resumed.'),
  restarts: numberField('Processes started after the first.'),
  problem: optionalField(
    textField('Why it gets no requests, or one at a time; or what is wrong with its output.'),
  ),
  breaker: optionalField(
    choiceField(['open', 'half_open'], 'Its circuit breaker; absent: closed.'),
  ),
  last_exit: optionalField(WorkerExitDto),
  health: optionalField(anyField<object>('What it last said about itself.')),
}) {}

export class WorkerListDto extends answer({ data: listField(WorkerDto) }) {}

export const workerDto = ({
  slots,
  lastExit,
  health,
  streamsInUse,
  drained,
  ...worker
}: WorkerView): WorkerDto => ({
  ...worker,
  drained: drained ?? false,
  streams_in_use: streamsInUse ?? 0,
  health: health && healthDto(health),
  slots: { total: slots.total, free: slots.free, in_use: slots.inUse },
  last_exit: lastExit,
});

/** The worker's words in the spelling of the other answers. */
const healthDto = ({
  maxBatch,
  maxConcurrent,
  inFlight,
  maxMessageBytes,
  ...rest
}: WorkerHealthReport): object => ({
  ...rest,
  max_batch: maxBatch,
  max_concurrent: maxConcurrent,
  in_flight: inFlight,
  max_message_bytes: maxMessageBytes,
});

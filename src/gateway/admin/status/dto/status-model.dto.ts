import {
  choiceField,
  fieldOf,
  numberField,
  textField,
  answer,
} from '../../../http/openapi/answer.js';
import { MODEL_STATES } from '../../../worker-pool/worker-view.js';

class StatusWaitingDto extends answer({
  realtime: Number,
  batch: Number,
  aged: numberField('Of `batch`: old enough to have turns beside realtime. Of this gateway only.'),
}) {}

class StatusWorkersDto extends answer({
  ready: Number,
  total: Number,
  drained: numberField('Drained by an operator.'),
}) {}

class StatusSlotsDto extends answer({ total: Number, free: Number }) {}

class StatusRatesDto extends answer({
  arrived_per_s: numberField('Accepted into the queue.'),
  completed_per_s: Number,
  failed_per_s: Number,
  refused_per_s: numberField('Rejected by the queue.'),
}) {}

export class StatusModelDto extends answer({
  id: textField({ example: 'moonshine-tiny-en' }),
  state: choiceField(MODEL_STATES),
  waiting: StatusWaitingDto,
  oldest_wait_ms: numberField('Milliseconds; 0 when nothing waits.'),
  in_flight: numberField('Requests that workers have now.'),
  workers: StatusWorkersDto,
  slots: StatusSlotsDto,
  rates: fieldOf(StatusRatesDto, 'Of this gateway, over the last minute.'),
}) {}

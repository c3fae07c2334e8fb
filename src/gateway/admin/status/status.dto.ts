import { KEY_STATES } from '../../../platform/auth/key-ring.js';
import {
  choiceField,
  constantField,
  fieldOf,
  flagField,
  listField,
  nullableField,
  numberField,
  textField,
  answer,
} from '../../http/openapi/answer.js';
import { MODEL_STATES } from '../../worker-pool/worker-view.js';
import { BOTTLENECKS } from './bottleneck.js';

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

class StatusModelDto extends answer({
  id: textField({ example: 'moonshine-tiny-en' }),
  state: choiceField(MODEL_STATES),
  waiting: StatusWaitingDto,
  oldest_wait_ms: numberField('Milliseconds; 0 when nothing waits.'),
  in_flight: numberField('Requests that workers have now.'),
  workers: StatusWorkersDto,
  slots: StatusSlotsDto,
  rates: fieldOf(StatusRatesDto, 'Of this gateway, over the last minute.'),
}) {}

class StatusGatewayDto extends answer({
  id: textField({
    example: 'gw_0198a1b2',
    description: 'Another one after a restart; `source` in the live feed.',
  }),
  version: textField({ example: '0.2.0' }),
  started_at: numberField('Unix seconds.'),
  uptime_s: Number,
  draining: flagField('It shuts down and accepts nothing new.'),
  keys: choiceField(KEY_STATES, 'ignored: `auth.allow_anonymous` takes the effect from keys.'),
}) {}

class BottleneckDto extends answer({
  kind: choiceField(BOTTLENECKS),
  model: nullableField(textField('Null: it concerns all models.')),
  text: textField('What limits the gateway now, and what would help.'),
}) {}

class StatusDependencyDto extends answer({
  name: textField({
    example: 'database',
    description: 'redis, database, blobs, batch_processor or disk.',
  }),
  state: choiceField(['up', 'down', 'unknown']),
  text: textField('Why it is down, or a figure of it; may be empty.'),
}) {}

class StatusBatchesDto extends answer({
  running: Number,
  waiting: numberField('Not begun, or being validated.'),
}) {}

export class StatusDto extends answer({
  object: constantField('status'),
  gateway: StatusGatewayDto,
  bottleneck: nullableField(fieldOf(BottleneckDto, 'Null: nothing limits it.')),
  models: listField(StatusModelDto),
  dependencies: listField(StatusDependencyDto),
  batches: nullableField(fieldOf(StatusBatchesDto, 'Null: the database does not answer.')),
}) {}

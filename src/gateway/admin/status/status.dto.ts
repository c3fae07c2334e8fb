import { BOTTLENECKS } from './bottleneck.js';
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
  view,
} from '../../http/openapi/view.js';
import { MODEL_STATES } from '../../worker-pool/worker-view.js';

const StatusModelDto = view('StatusModelDto', {
  id: textField({ example: 'pocketsphinx-en' }),
  state: choiceField(MODEL_STATES),
  waiting: view('StatusWaitingDto', {
    realtime: Number,
    batch: Number,
    aged: numberField(
      'Of `batch`: old enough to have turns beside realtime. Of this gateway only.',
    ),
  }),
  oldest_wait_ms: numberField('Milliseconds; 0 when nothing waits.'),
  in_flight: numberField('Requests that workers have now.'),
  workers: view('StatusWorkersDto', {
    ready: Number,
    total: Number,
    drained: numberField('Drained by an operator.'),
  }),
  slots: view('StatusSlotsDto', { total: Number, free: Number }),
  rates: fieldOf(
    view('StatusRatesDto', {
      arrived_per_s: numberField('Accepted into the queue.'),
      completed_per_s: Number,
      failed_per_s: Number,
      refused_per_s: numberField('Rejected by the queue.'),
    }),
    'Of this gateway, over the last minute.',
  ),
});

const StatusGatewayDto = view('StatusGatewayDto', {
  id: textField({
    example: 'gw_0198a1b2',
    description: 'Another one after a restart; `source` in the live feed.',
  }),
  version: textField({ example: '0.1.0' }),
  started_at: numberField('Unix seconds.'),
  uptime_s: Number,
  draining: flagField('It shuts down and accepts nothing new.'),
  keys: choiceField(
    KEY_STATES,
    'ignored: `auth.allow_anonymous` takes the effect from keys.',
  ),
});

const BottleneckDto = view('BottleneckDto', {
  kind: choiceField(BOTTLENECKS),
  model: nullableField(textField('Null: it concerns all models.')),
  text: textField('What limits the gateway now, and what would help.'),
});

const StatusDependencyDto = view('StatusDependencyDto', {
  name: textField({
    example: 'database',
    description: 'redis, database, blobs, batch_processor or disk.',
  }),
  state: choiceField(['up', 'down', 'unknown']),
  text: textField('Why it is down, or a figure of it; may be empty.'),
});

const StatusBatchesDto = view('StatusBatchesDto', {
  running: Number,
  waiting: numberField('Not begun, or being validated.'),
});

export const StatusDto = view('StatusDto', {
  object: constantField('status'),
  gateway: StatusGatewayDto,
  bottleneck: nullableField(fieldOf(BottleneckDto, 'Null: nothing limits it.')),
  models: listField(StatusModelDto),
  dependencies: listField(StatusDependencyDto),
  batches: nullableField(
    fieldOf(StatusBatchesDto, 'Null: the database does not answer.'),
  ),
});

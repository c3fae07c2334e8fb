import { KEY_STATES } from '../../../../platform/auth/key-ring.js';
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
} from '../../../http/openapi/answer.js';
import { BOTTLENECKS } from '../bottleneck.js';
import { StatusModelDto } from './status-model.dto.js';

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

import {
  flagField,
  listField,
  numberField,
  optionalField,
  textField,
  answer,
} from '../http/openapi/answer.js';

class QueueTotalDto extends answer({
  realtime: Number,
  batch: Number,
  bytes: Number,
  running: Number,
}) {}

class QueueBoundsDto extends answer({
  max_requests: Number,
  max_requests_per_model: Number,
  max_bytes: Number,
  max_bytes_per_model: Number,
  realtime_reserve: numberField('Share of each bound that only realtime may use.'),
}) {}

class QueueLineDto extends answer({
  model: textField({ example: 'moonshine-tiny-en' }),
  realtime: Number,
  batch: Number,
  bytes: numberField('Bytes of the uploads that wait.'),
  running: numberField('Requests that workers have now.'),
  oldest_wait_ms: optionalField(numberField('Milliseconds; absent when nothing is queued.')),
}) {}

export class QueueDto extends answer({
  accepting: flagField('False once the server drains.'),
  total: QueueTotalDto,
  bounds: QueueBoundsDto,
  models: listField(QueueLineDto),
}) {}

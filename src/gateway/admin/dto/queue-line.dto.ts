import { numberField, optionalField, textField, answer } from '../../http/openapi/answer.js';

export class QueueTotalDto extends answer({
  realtime: Number,
  batch: Number,
  bytes: Number,
  running: Number,
}) {}

export class QueueLineDto extends answer({
  model: textField({ example: 'moonshine-tiny-en' }),
  realtime: Number,
  batch: Number,
  bytes: numberField('Bytes of the uploads that wait.'),
  running: numberField('Requests that workers have now.'),
  oldest_wait_ms: optionalField(numberField('Milliseconds; absent when nothing is queued.')),
}) {}

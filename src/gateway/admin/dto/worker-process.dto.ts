import {
  listField,
  nullableField,
  numberField,
  optionalField,
  textField,
  answer,
} from '../../http/openapi/answer.js';

export class WorkerExitDto extends answer({
  code: nullableField(Number),
  signal: nullableField(textField({ example: 'SIGKILL' })),
  reason: optionalField(String),
  lines: listField(String, 'The last lines it wrote, oldest first.'),
}) {}

export class WorkerSlotsDto extends answer({
  total: Number,
  free: numberField('Free for any request; never negative.'),
  in_use: numberField('Realtime may exceed the total by one group (max_batch).'),
}) {}

import {
  listField,
  nullableField,
  numberField,
  objectField,
  answer,
} from '../../../http/openapi/answer.js';

class BatchErrorDto extends answer({
  code: String,
  message: String,
  param: nullableField(String),
  line: nullableField(numberField('From 1.')),
}) {}

export class BatchErrorsDto extends answer({
  object: objectField('list'),
  data: listField(BatchErrorDto, 'At most 100.'),
}) {}

import {
  listAnswer,
  numberField,
  optionalField,
  textField,
  answer,
} from '../../http/openapi/answer.js';

class CatalogueModelDto extends answer({
  name: textField({ example: 'whisper-small' }),
  summary: String,
  licence: optionalField(textField({ example: 'MIT' })),
  bytes: numberField('Of its files, as far as known.'),
  unavailable: optionalField(textField('Why it cannot run here; absent: it can.')),
}) {}

export class CatalogueDto extends listAnswer(CatalogueModelDto) {}

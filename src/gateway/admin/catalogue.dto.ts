import { anyText, choiceOf } from '../../contracts/openai/field-types.js';
import { RequiredField } from '../../contracts/openai/field.decorators.js';
import { Strict } from '../http/dto-validation.js';
import {
  choiceField,
  listField,
  listAnswer,
  numberField,
  optionalField,
  textField,
  answer,
} from '../http/openapi/answer.js';
import { ADDITION_STATES } from './model-additions.js';

class CatalogueModelDto extends answer({
  name: textField({ example: 'whisper-small' }),
  summary: String,
  licence: optionalField(textField({ example: 'MIT' })),
  bytes: numberField('Of its files, as far as known.'),
  unavailable: optionalField(textField('Why it cannot run here; absent: it can.')),
}) {}

export class CatalogueDto extends listAnswer(CatalogueModelDto) {}

export class ModelAdditionDto extends answer({
  name: textField({ example: 'whisper-small' }),
  state: choiceField(ADDITION_STATES),
  started_at: numberField('Unix seconds.'),
  lines: listField(String, 'The last lines of `switchyard models add`.'),
}) {}

export class ModelAdditionListDto extends listAnswer(
  ModelAdditionDto,
  'The newest first; at most 8.',
) {}

@Strict()
export class ReportAdditionDto {
  @RequiredField(choiceOf(ADDITION_STATES))
  state!: (typeof ADDITION_STATES)[number];

  @RequiredField(anyText('must be text'), {
    description: 'What happens now.',
    example: 'model.bin  40 % of 138.5 MiB',
  })
  line!: string;
}

import {
  choiceField,
  listField,
  listAnswer,
  numberField,
  textField,
  answer,
} from '../../http/openapi/answer.js';
import { ADDITION_STATES } from '../model-additions.js';

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

import { fromForm, anyText, whole } from '../../../../contracts/openai/field-types.js';
import { Field } from '../../../../contracts/openai/field.decorators.js';
import { Strict } from '../../../http/dto-validation.js';
import {
  constantField,
  listField,
  numberField,
  optionalField,
  answer,
} from '../../../http/openapi/answer.js';
import { MAX_MINUTES, STEP_S } from '../request-history.service.js';
import { HistoryPointDto } from './history-point.dto.js';

@Strict()
export class HistoryQueryDto {
  @Field(fromForm(whole(1, MAX_MINUTES)), { type: undefined, default: MAX_MINUTES })
  minutes = MAX_MINUTES;

  @Field(anyText('must be the id of a model'), {
    description: 'Canonical id of one model; absent: all.',
    example: 'moonshine-tiny-en',
  })
  model?: string;
}

export class HistoryDto extends answer({
  object: constantField('history'),
  step_s: numberField({ example: STEP_S, description: 'Length of a step in seconds.' }),
  from: optionalField(
    numberField('Begin of the first step, Unix seconds; absent: no step has ended yet.'),
  ),
  points: listField(HistoryPointDto),
}) {}

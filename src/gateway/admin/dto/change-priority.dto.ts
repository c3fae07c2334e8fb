import { choiceOf } from '../../../contracts/openai/field-types.js';
import { RequiredField } from '../../../contracts/openai/field.decorators.js';
import { PRIORITY_LABELS, type PriorityLabel } from '../../../core/request/request-priority.js';
import { Strict } from '../../http/dto-validation.js';

@Strict()
export class ChangePriorityDto {
  @RequiredField(choiceOf(PRIORITY_LABELS), { example: 'realtime' })
  priority!: PriorityLabel;
}

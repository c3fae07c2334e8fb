import { anyText, choiceOf } from '../../../contracts/openai/field-types.js';
import { RequiredField } from '../../../contracts/openai/field.decorators.js';
import { Strict } from '../../http/dto-validation.js';
import { ADDITION_STATES } from '../model-additions.js';

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

import { whole } from '../../../contracts/openai/field-types.js';
import { Field } from '../../../contracts/openai/field.decorators.js';
import { Strict } from '../../http/dto-validation.js';
import { DAY_S } from './create-key.dto.js';

@Strict()
export class RotateKeyDto {
  @Field(whole(0, 30 * DAY_S), {
    default: 0,
    description: 'Seconds that the present secret stays valid.',
  })
  grace_s = 0;
}

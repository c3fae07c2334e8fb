import { Field } from '../../../contracts/openai/field.decorators.js';
import { type KeyScope } from '../../../platform/auth/principal.js';
import { NullRemoves, Strict } from '../../http/dto-validation.js';
import { KeyTermsDto, NAME_TYPE, SCOPES } from './create-key.dto.js';

@Strict()
@NullRemoves()
export class UpdateKeyDto extends KeyTermsDto {
  @Field(NAME_TYPE, { example: 'web shop' })
  name?: string;

  @Field(SCOPES)
  scopes?: KeyScope[];
}

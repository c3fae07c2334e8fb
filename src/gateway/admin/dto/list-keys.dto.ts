import { fromForm, whole } from '../../../contracts/openai/field-types.js';
import { Field } from '../../../contracts/openai/field.decorators.js';
import { Strict } from '../../http/dto-validation.js';
import { partialListAnswer } from '../../http/openapi/answer.js';
import { ApiKeyDto } from './api-key.dto.js';

@Strict()
export class ListKeysDto {
  @Field(fromForm(whole(1, 10_000)), { default: 1000 })
  limit = 1000;
}

export class ApiKeyListDto extends partialListAnswer(
  ApiKeyDto,
  'Those of the keys file or auth.key, then those of the database, newest first.',
) {}

import { fromForm, textLike, whole } from '../../../contracts/openai/field-types.js';
import { Field } from '../../../contracts/openai/field.decorators.js';
import { Strict } from '../../http/dto-validation.js';
import { partialListAnswer } from '../../http/openapi/answer.js';
import { AuditEntryDto } from './audit-entry.dto.js';

@Strict()
export class AuditQueryDto {
  @Field(fromForm(whole(1, 1000)), { default: 100 })
  limit = 100;

  @Field(textLike(/^audit_[0-9a-f]{32}$/, 'must be the id of an entry'), {
    description: 'Id of the last entry that was read.',
  })
  after?: string;
}

export class AuditListDto extends partialListAnswer(AuditEntryDto, 'Newest first.') {}

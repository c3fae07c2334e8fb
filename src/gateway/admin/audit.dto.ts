import { fromForm, textLike, whole } from '../../contracts/openai/field-types.js';
import { Field } from '../../contracts/openai/field.decorators.js';
import { type AuditEntry } from '../../core/access/audit-entry.js';
import { Strict } from '../http/dto-validation.js';
import {
  nullableField,
  numberField,
  partialListAnswer,
  textField,
  unixSeconds,
  answer,
} from '../http/openapi/answer.js';

@Strict()
export class AuditQueryDto {
  @Field(fromForm(whole(1, 1000)), { default: 100 })
  limit = 100;

  @Field(textLike(/^audit_[0-9a-f]{32}$/, 'must be the id of an entry'), {
    description: 'Id of the last entry that was read.',
  })
  after?: string;
}

class AuditActorDto extends answer({
  tenant: String,
  key: nullableField(textField('Id of the key; null: no keys are asked for.')),
}) {}

class AuditEntryDto extends answer({
  id: String,
  at: numberField('Unix seconds.'),
  actor: AuditActorDto,
  action: textField({ example: 'POST /admin/v1/keys/:id/rotate' }),
  target: nullableField(textField('Id of what was changed.')),
  detail: nullableField(textField('What was asked, as JSON, cut at 500 characters.')),
  request_id: String,
  outcome: textField({
    example: 'ok',
    description: '`ok`, or the code of the refusal.',
  }),
}) {}

export class AuditListDto extends partialListAnswer(AuditEntryDto, 'Newest first.') {}

export const auditEntryDto = (entry: AuditEntry): AuditEntryDto => ({
  id: entry.id,
  at: unixSeconds(entry.atMs),
  actor: { tenant: entry.tenant, key: entry.keyId || null },
  action: entry.action,
  target: entry.target || null,
  detail: entry.detail || null,
  request_id: entry.requestId,
  outcome: entry.outcome,
});

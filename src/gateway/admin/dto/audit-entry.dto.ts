import { type AuditEntry } from '../../../core/access/audit-entry.js';
import {
  nullableField,
  numberField,
  textField,
  unixSeconds,
  answer,
} from '../../http/openapi/answer.js';

class AuditActorDto extends answer({
  tenant: String,
  key: nullableField(textField('Id of the key; null: no keys are asked for.')),
}) {}

export class AuditEntryDto extends answer({
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

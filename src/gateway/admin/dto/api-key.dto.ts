import { type StoredKey } from '../../../core/access/stored-key.js';
import { PRIORITY_LABELS } from '../../../core/request/request-priority.js';
import { type ApiKeyEntry, SETTING_KEY_ID } from '../../../platform/auth/keys-file.js';
import { KEY_SCOPES } from '../../../platform/auth/principal.js';
import {
  anyField,
  choiceField,
  constantField,
  flagField,
  listField,
  nullableField,
  numberField,
  textField,
  secondsOrNull,
  answer,
} from '../../http/openapi/answer.js';

export class ApiKeyDto extends answer({
  object: constantField('api_key'),
  id: textField({ example: 'key_0198a1b2c3d4' }),
  name: String,
  tenant: String,
  scopes: listField(choiceField<string>(KEY_SCOPES)),
  models: nullableField(listField(String, 'The only models it may use; null: all.')),
  limits: nullableField(
    anyField<Readonly<Record<string, number>>>('Its own limits; null: those of its tenant.'),
  ),
  default_priority: nullableField(choiceField(PRIORITY_LABELS)),
  prefix: nullableField(textField('First characters of the secret.')),
  source: choiceField(
    ['database', 'file', 'setting'],
    'file: the keys file; setting: auth.key. Both are changed by hand only.',
  ),
  created_at: nullableField(numberField('Unix seconds.')),
  expires_at: nullableField(numberField('Unix seconds.')),
  last_used_at: nullableField(numberField('Unix seconds, at most a minute old.')),
  revoked_at: nullableField(numberField('Unix seconds.')),
}) {}

export class IssuedKeyDto extends answer(
  {
    secret: textField({
      description: 'The key itself. It is shown here only.',
      example: 'sk-switchyard-…',
    }),
    makes_keys_required: flagField('It is the first key: from now on every request needs one.'),
  },
  ApiKeyDto,
) {}

export const storedKeyDto = (key: StoredKey): ApiKeyDto => ({
  object: 'api_key',
  id: key.id,
  name: key.name,
  tenant: key.tenant,
  scopes: key.scopes,
  models: key.models ?? null,
  limits: key.limits ?? null,
  default_priority: key.defaultPriority ?? null,
  prefix: key.prefix,
  source: 'database',
  created_at: secondsOrNull(key.createdAtMs),
  expires_at: secondsOrNull(key.expiresAtMs),
  last_used_at: secondsOrNull(key.lastUsedAtMs),
  revoked_at: secondsOrNull(key.revokedAtMs),
});

export const fixedKeyDto = ({ id, ...key }: ApiKeyEntry): ApiKeyDto => ({
  ...storedKeyDto({ ...key, id, name: id, prefix: '', createdAtMs: 0 }),
  prefix: null,
  source: id === SETTING_KEY_ID ? 'setting' : 'file',
  created_at: null,
});

import { allowedBy } from '@switchyard/engine-api/rules.js';
import {
  anyWhole,
  choiceOf,
  custom,
  every,
  type FieldType,
  fromForm,
  textLike,
  texts,
  whole,
} from '../../contracts/openai/field-types.js';
import { Field, RequiredField } from '../../contracts/openai/field.decorators.js';
import { type StoredKey } from '../../core/access/stored-key.js';
import { PRIORITY_LABELS, type PriorityLabel } from '../../core/request/request-priority.js';
import {
  type ApiKeyEntry,
  KEY_LIMIT_NAMES,
  LIMITS_RULE,
  SETTING_KEY_ID,
} from '../../platform/auth/keys-file.js';
import { KEY_SCOPES, type KeyScope } from '../../platform/auth/principal.js';
import { NullRemoves, Strict } from '../http/dto-validation.js';
import {
  anyField,
  choiceField,
  constantField,
  flagField,
  listField,
  nullableField,
  numberField,
  partialListAnswer,
  textField,
  secondsOrNull,
  answer,
} from '../http/openapi/answer.js';

const NAME = /^[^\p{Cc}\p{Cf}]{1,100}$/u;

const TENANT = /^[A-Za-z0-9._-]{1,64}$/;

export const DAY_S = 86_400;

const MAX_DAYS = 3650;

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const isLimits = (value: unknown): boolean => LIMITS_RULE.safeParse(value).success;

const isScope = (value: unknown): boolean => KEY_SCOPES.includes(value as KeyScope);

const SCOPES: FieldType = {
  schema: { enum: KEY_SCOPES, isArray: true },
  checks: [
    [every(isScope), `must be one of ${KEY_SCOPES.join(', ')}`],
    [isFilled, 'must have at least one entry'],
    ...texts(KEY_SCOPES.length, 20).checks,
  ],
};

const EXPIRY: FieldType = {
  schema: { type: Number },
  checks: [
    [isSoon, `must be a time in the next ${MAX_DAYS} days, in Unix seconds`],
    ...anyWhole().checks,
  ],
};

const NAME_TYPE = textLike(NAME, 'must be 1 to 100 printable characters');

/** What a new key may have, and what a change may set. */
export class KeyTermsDto {
  @Field(texts(32, 128, [[isFilled, 'must have at least one entry']]), {
    description: 'Ids or aliases of the only models it may use; null: all.',
    nullable: true,
  })
  models?: string[] | null;

  @Field(custom({ type: Object }, isLimits, `must be ${allowedBy(LIMITS_RULE)}`), {
    description: `All of its own limits in place of \`limits.*\`: ${KEY_LIMIT_NAMES.join(', ')}; null: none.`,
    example: { requests_per_minute: 60 },
    nullable: true,
  })
  limits?: Record<string, number> | null;

  @Field(whole(1, MAX_DAYS), { description: 'From now on; instead of expires_at.' })
  expires_in_days?: number;

  @Field(EXPIRY, { description: 'Unix seconds; null: it never expires.', nullable: true })
  expires_at?: number | null;

  @Field(choiceOf(PRIORITY_LABELS), {
    description: 'Of its requests that state none; null: that of the model.',
    nullable: true,
  })
  default_priority?: PriorityLabel | null;
}

@Strict()
export class CreateKeyDto extends KeyTermsDto {
  @RequiredField(NAME_TYPE, {
    description: 'For people: who uses it and for what.',
    example: 'web shop',
  })
  name!: string;

  @RequiredField(textLike(TENANT, 'must be 1 to 64 letters, digits and . _ -'), {
    example: 'acme',
  })
  tenant!: string;

  @Field(SCOPES, { default: ['inference'] })
  scopes: KeyScope[] = ['inference'];
}

@Strict()
@NullRemoves()
export class UpdateKeyDto extends KeyTermsDto {
  @Field(NAME_TYPE, { example: 'web shop' })
  name?: string;

  @Field(SCOPES)
  scopes?: KeyScope[];
}

function isSoon(value: unknown): boolean {
  const inS = Number(value) - Date.now() / 1000;
  return inS > 0 && inS <= MAX_DAYS * DAY_S;
}

@Strict()
export class RotateKeyDto {
  @Field(whole(0, 30 * DAY_S), {
    default: 0,
    description: 'Seconds that the present secret stays valid.',
  })
  grace_s = 0;
}

@Strict()
export class ListKeysDto {
  @Field(fromForm(whole(1, 10_000)), { default: 1000 })
  limit = 1000;
}

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

export class ApiKeyListDto extends partialListAnswer(
  ApiKeyDto,
  'Those of the keys file or auth.key, then those of the database, newest first.',
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

import { allowedBy } from '@switchyard/engine-api/rules.js';
import {
  anyWhole,
  choiceOf,
  custom,
  every,
  type FieldType,
  textLike,
  texts,
  whole,
} from '../../../contracts/openai/field-types.js';
import { Field, RequiredField } from '../../../contracts/openai/field.decorators.js';
import { PRIORITY_LABELS, type PriorityLabel } from '../../../core/request/request-priority.js';
import { KEY_LIMIT_NAMES, LIMITS_RULE } from '../../../platform/auth/keys-file.js';
import { KEY_SCOPES, type KeyScope } from '../../../platform/auth/principal.js';
import { Strict } from '../../http/dto-validation.js';

const NAME = /^[^\p{Cc}\p{Cf}]{1,100}$/u;

const TENANT = /^[A-Za-z0-9._-]{1,64}$/;

export const DAY_S = 86_400;

const MAX_DAYS = 3650;

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const isLimits = (value: unknown): boolean => LIMITS_RULE.safeParse(value).success;

const isScope = (value: unknown): boolean => KEY_SCOPES.includes(value as KeyScope);

export const SCOPES: FieldType = {
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

export const NAME_TYPE = textLike(NAME, 'must be 1 to 100 printable characters');

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

function isSoon(value: unknown): boolean {
  const inS = Number(value) - Date.now() / 1000;
  return inS > 0 && inS <= MAX_DAYS * DAY_S;
}

import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Patch,
  Post,
  Query,
} from '@nestjs/common';
import { ApiCreatedResponse, ApiOperation } from '@nestjs/swagger';
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
import { invalidField } from '../../contracts/schema/field-problems.js';
import { allowedBy } from '../../contracts/schema/rules.js';
import { type KeyChange, type StoredKey } from '../../core/access/stored-key.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';
import { type IssuedKey, KeyIssuer } from '../../platform/auth/key-issuer.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import {
  type ApiKeyEntry,
  KEY_LIMIT_NAMES,
  LIMITS_RULE,
  SETTING_KEY_ID,
} from '../../platform/auth/keys-file.js';
import { KEY_SCOPES, type KeyScope } from '../../platform/auth/principal.js';
import { KeyStore } from '../../platform/database/key-store.js';
import { NullRemoves, Strict } from '../http/dto-validation.js';
import {
  anyField,
  choiceField,
  constantField,
  flagField,
  listField,
  nullableField,
  numberField,
  partialListOf,
  textField,
  secondsOrNull,
  answer,
} from '../http/openapi/answer.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { ModelCatalog } from '../models/model-catalog.js';

const NAME = /^[^\p{Cc}\p{Cf}]{1,100}$/u;
const TENANT = /^[A-Za-z0-9._-]{1,64}$/;
const PRIORITIES = ['realtime', 'batch'] as const;
const DAY_S = 86_400;
const MAX_DAYS = 3650;

const NO_CHANGE =
  'Nothing would change: give name, scopes, models, limits, expires_in_days, expires_at or default_priority.';

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
class KeyTermsDto {
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

  @Field(choiceOf(PRIORITIES), {
    description: 'Of its requests that state none; null: that of the model.',
    nullable: true,
  })
  default_priority?: PriorityLabel | null;
}

@Strict()
class CreateKeyDto extends KeyTermsDto {
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
class UpdateKeyDto extends KeyTermsDto {
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
class RotateKeyDto {
  @Field(whole(0, 30 * DAY_S), {
    default: 0,
    description: 'Seconds that the present secret stays valid.',
  })
  grace_s = 0;
}

@Strict()
class ListKeysDto {
  @Field(fromForm(whole(1, 10_000)), { default: 1000 })
  limit = 1000;
}

class ApiKeyDto extends answer({
  object: constantField('api_key'),
  id: textField({ example: 'key_0198a1b2c3d4' }),
  name: String,
  tenant: String,
  scopes: listField(choiceField<string>(KEY_SCOPES)),
  models: nullableField(listField(String, 'The only models it may use; null: all.')),
  limits: nullableField(
    anyField<Readonly<Record<string, number>>>('Its own limits; null: those of its tenant.'),
  ),
  default_priority: nullableField(choiceField(PRIORITIES)),
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

class IssuedKeyDto extends answer(
  {
    secret: textField({
      description: 'The key itself. It is shown here only.',
      example: 'sk-switchyard-…',
    }),
    makes_keys_required: flagField('It is the first key: from now on every request needs one.'),
  },
  ApiKeyDto,
) {}

class ApiKeyListDto extends partialListOf(
  ApiKeyDto,
  'Those of the keys file or auth.key, then those of the database, newest first.',
) {}

const storedKeyDto = (key: StoredKey): ApiKeyDto => ({
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

const fixedKeyDto = ({ id, ...key }: ApiKeyEntry): ApiKeyDto => ({
  ...storedKeyDto({ ...key, id, name: id, prefix: '', createdAtMs: 0 }),
  prefix: null,
  source: id === SETTING_KEY_ID ? 'setting' : 'file',
  created_at: null,
});

const issued = ({ key, secret, first = false }: IssuedKey) => ({
  ...storedKeyDto(key),
  secret,
  makes_keys_required: first,
});

/**
 * API keys: those of the database are made, changed, rotated and revoked here; those of the keys
 * file are listed.
 */
@Controller('admin/v1/keys')
export class AdminKeysController {
  constructor(
    private readonly store: KeyStore,
    private readonly ring: KeyRing,
    private readonly issuer: KeyIssuer,
    private readonly catalog: ModelCatalog,
  ) {}

  @Get()
  @Answers(ApiKeyListDto)
  @DescribesErrors('storage_unavailable')
  async list(@Query() { limit }: ListKeysDto) {
    const stored = await this.store.list(limit + 1);
    const data = [
      ...this.ring.fixedKeys.map(fixedKeyDto),
      ...stored.slice(0, limit).map(storedKeyDto),
    ];
    return { object: 'list', data, has_more: stored.length > limit };
  }

  @Post()
  @HttpCode(201)
  @Header('cache-control', 'no-store')
  @ApiOperation({ description: 'The answer is the only place where the key appears.' })
  @ApiCreatedResponse({ type: IssuedKeyDto })
  @DescribesErrors(
    'invalid_value',
    'missing_required_parameter',
    'invalid_json',
    'too_many_keys',
    'storage_unavailable',
  )
  async create(@Body() { name, tenant, ...fields }: CreateKeyDto) {
    const nowMs = Date.now();
    const { models, limits, defaultPriority, expiresAtMs, scopes } = this.#termsIn(fields, nowMs);
    const terms = {
      models: models ?? undefined,
      limits: limits ?? undefined,
      defaultPriority: defaultPriority ?? undefined,
      expiresAtMs: expiresAtMs ?? undefined,
    };
    return issued(
      await this.issuer.create({ name, tenant, scopes: scopes ?? [], ...terms }, nowMs),
    );
  }

  @Patch(':id')
  @ApiOperation({
    description:
      'What is absent stays as it is. In effect on this gateway at once, on others within 5 s; open sessions and ' +
      'batches keep the scopes, models and priority that they began with.',
  })
  @Answers(ApiKeyDto)
  @DescribesErrors('key_not_found', 'key_is_from_file', 'storage_unavailable')
  async update(@Param('id') id: string, @Body() { name, ...fields }: UpdateKeyDto) {
    const change = { name: name ?? undefined, ...this.#termsIn(fields, Date.now()) };
    if (Object.values(change).every(value => value === undefined))
      throw new DomainError('missing_required_parameter', NO_CHANGE);
    return storedKeyDto(await this.issuer.update(id, change));
  }

  @Post(':id/rotate')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    description: 'Sessions that are open stay open: they belong to the key, not to its secret.',
  })
  @Answers(IssuedKeyDto)
  @DescribesErrors('key_not_found', 'key_is_from_file', 'storage_unavailable')
  async rotate(@Param('id') id: string, @Body() { grace_s: graceS }: RotateKeyDto) {
    return issued(await this.issuer.rotate(id, graceS * 1000));
  }

  @Delete(':id')
  @ApiOperation({
    description: 'In effect on this gateway at once, on others within 5 s.',
  })
  @Answers(ApiKeyDto)
  @DescribesErrors('key_not_found', 'key_is_from_file', 'storage_unavailable')
  async revoke(@Param('id') id: string) {
    return storedKeyDto(await this.issuer.revoke(id));
  }

  /** Undefined: not given. @throws DomainError for a model that is not served */
  #termsIn(
    fields: KeyTermsDto & { readonly scopes?: readonly KeyScope[] },
    nowMs: number,
  ): KeyChange {
    const { scopes, models, limits, expires_in_days: days, expires_at: at } = fields;
    if (at != null && days != null)
      throw invalidField('expires_at', 'Give expires_at or expires_in_days, not both.');
    return {
      scopes: scopes ? [...new Set(scopes)] : undefined,
      models: models && [...new Set(models.map(name => this.catalog.get(name).id))],
      limits,
      defaultPriority: fields.default_priority,
      expiresAtMs: days == null ? at && at * 1000 : nowMs + days * DAY_S * 1000,
    };
  }
}

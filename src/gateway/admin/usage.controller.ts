import { Controller, Get, Query } from '@nestjs/common';
import {
  commaSeparated,
  type FieldType,
  repeatedOneOf,
  textLike,
} from '../../contracts/openai/field-types.js';
import { Field } from '../../contracts/openai/field.decorators.js';
import { invalidField } from '../../contracts/schema/field-problems.js';
import { type UsageSums, USAGE_GROUPS, type UsageGroup } from '../../core/access/usage-row.js';
import { LIMIT_NAMES } from '../../core/limits/limit-rules.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { KEY_LIMITS } from '../../platform/auth/keys-file.js';
import { DAY_MS } from '../../platform/config/setting-definition.js';
import { Settings } from '../../platform/config/settings.js';
import { KeyStore } from '../../platform/database/key-store.js';
import { UsageStore } from '../../platform/database/usage-store.js';
import { Strict } from '../http/dto-validation.js';
import {
  anyField,
  constantField,
  fieldOf,
  flagField,
  listField,
  numberField,
  optionalField,
  partialListOf,
  textField,
  answer,
} from '../http/openapi/answer.js';
import { DescribesErrors } from '../http/openapi/errors.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { utcDay, UsageRecorder } from './usage-recorder.js';

const DAY = textLike(
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/,
  'must be a day such as 2027-01-31',
);
const GROUPS: FieldType = {
  schema: { type: String },
  checks: repeatedOneOf(USAGE_GROUPS).checks,
  shape: commaSeparated(USAGE_GROUPS.length, Infinity).shape!,
};

@Strict()
class UsageQueryDto {
  @Field(DAY, {
    example: '2027-01-01',
    description: 'First day, UTC; absent: 29 days before the last.',
  })
  from?: string;

  @Field(DAY, { example: '2027-01-31', description: 'Last day, UTC; absent: today.' })
  to?: string;

  @Field(GROUPS, {
    example: 'day,tenant',
    description: 'Out of day, tenant, key, model.',
  })
  group_by: (keyof UsageGroup)[] = ['day'];

  @Field(textLike(/^[~\w.-]{1,64}$/, 'must be the name of a tenant'), {
    example: 'acme',
    description: 'Of this tenant only.',
  })
  tenant?: string;
}

class UsageDto extends answer({
  day: optionalField(textField({ example: '2027-01-31' })),
  tenant: optionalField(String),
  key: optionalField(textField('Id of the key; empty: requests without keys.')),
  model: optionalField(String),
  requests: numberField('All that ended.'),
  completed: Number,
  failed: Number,
  cancelled: Number,
  audio_s: numberField('Recognized or synthesized.'),
  characters: numberField('Of text to synthesize.'),
  input_tokens: Number,
  output_tokens: Number,
  device_ms: numberField('Time of engine calls; calls for several requests are divided equally.'),
}) {}

class UsageListDto extends answer({
  object: constantField('list'),
  from: textField({ example: '2027-01-01' }),
  to: textField({ example: '2027-01-31' }),
  data: listField(UsageDto),
  has_more: flagField('More than 10,000 groups: ask for fewer days or groups.'),
}) {}

class UsageTodayDto extends answer({
  requests: Number,
  audio_s: Number,
  input_tokens: Number,
  output_tokens: Number,
}) {}

class TenantDto extends answer({
  object: constantField('tenant'),
  id: textField({ example: 'acme' }),
  keys: numberField('Keys that are not revoked.'),
  limits: anyField<Readonly<Record<string, number>>>({
    description: 'By name; 0 = unlimited.',
    example: { requests_per_minute: 60 },
  }),
  weight: numberField('Its share of a busy model is this, divided by the weights of all who wait.'),
  usage_today: fieldOf(UsageTodayDto, 'Since 00:00 UTC.'),
}) {}

class TenantListDto extends partialListOf(TenantDto) {}

const usageDto = (row: Partial<UsageGroup> & UsageSums): UsageDto => ({
  day: row.day,
  tenant: row.tenant,
  key: row.key,
  model: row.model,
  requests: row.requests,
  completed: row.completed,
  failed: row.failed,
  cancelled: row.cancelled,
  audio_s: row.audioMs / 1000,
  characters: row.characters,
  input_tokens: row.inputTokens,
  output_tokens: row.outputTokens,
  device_ms: row.deviceMs,
});

const usageTodayDto = (sums: UsageSums | undefined): UsageTodayDto => ({
  requests: sums?.requests ?? 0,
  audio_s: (sums?.audioMs ?? 0) / 1000,
  input_tokens: sums?.inputTokens ?? 0,
  output_tokens: sums?.outputTokens ?? 0,
});

const MAX_GROUPS = 10_000;
const DEFAULT_DAYS = 30;

/**
 * What tenants used, and who they are. This gateway's own counts are up to date, those of
 * others a few seconds old.
 */
@Controller('admin/v1')
export class AdminUsageController {
  constructor(
    private readonly usageStore: UsageStore,
    private readonly keyStore: KeyStore,
    private readonly settings: Settings,
    private readonly ring: KeyRing,
    private readonly recorder: UsageRecorder,
  ) {}

  @Get('usage')
  @Answers(UsageListDto)
  @DescribesErrors('invalid_value', 'storage_unavailable')
  async usage(@Query() { to = utcDay(Date.now()), ...query }: UsageQueryDto) {
    const {
      from = utcDay(lastMs(to) - (DEFAULT_DAYS - 1) * DAY_MS),
      group_by: groupBy,
      tenant,
    } = query;
    if (from > to) throw invalidField('from', '`from` must not be after `to`.');
    await this.recorder.flush();
    const rows = await this.usageStore.sum({
      from,
      to,
      groupBy,
      tenant,
      limit: MAX_GROUPS + 1,
    });
    const data = rows.slice(0, MAX_GROUPS).map(usageDto);
    return { object: 'list', from, to, data, has_more: rows.length > MAX_GROUPS };
  }

  @Get('tenants')
  @Answers(TenantListDto)
  @DescribesErrors('storage_unavailable')
  async tenants() {
    await this.recorder.flush();
    const today = utcDay(Date.now());
    const used = await this.usageStore.sum({
      from: today,
      to: today,
      groupBy: ['tenant'],
      limit: MAX_GROUPS,
    });
    const keys = new Map<string, number>();
    for (const { tenant } of [...this.ring.fixedKeys, ...(await this.keyStore.live())])
      keys.set(tenant, (keys.get(tenant) ?? 0) + 1);
    const sums = new Map(used.map((row): [string, UsageSums] => [row.tenant ?? '', row]));
    const limits: Record<string, number> = Object.fromEntries(
      LIMIT_NAMES.map((name, at): [string, number] => [
        KEY_LIMITS[at] ?? name,
        this.settings.limits[name],
      ]),
    );
    const data = [...new Set([...keys.keys(), ...sums.keys()])].sort().map(id => ({
      object: 'tenant' as const,
      id,
      keys: keys.get(id) ?? 0,
      limits,
      weight: this.ring.weightOf(id),
      usage_today: usageTodayDto(sums.get(id)),
    }));
    return { object: 'list', data, has_more: false };
  }
}

/** @throws DomainError for a day that no calendar has, such as 2027-02-30 */
function lastMs(day: string): number {
  const ms = Date.parse(day);
  if (Number.isNaN(ms) || utcDay(ms) !== day)
    throw invalidField('to', '`to` is no day of the calendar.');
  return ms;
}

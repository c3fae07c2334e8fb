import {
  commaSeparated,
  type FieldType,
  repeatedOneOf,
  textLike,
} from '../../contracts/openai/field-types.js';
import { Field } from '../../contracts/openai/field.decorators.js';
import { type UsageSums, USAGE_GROUPS, type UsageGroup } from '../../core/access/usage-row.js';
import { Strict } from '../http/dto-validation.js';
import {
  anyField,
  constantField,
  fieldOf,
  flagField,
  listField,
  numberField,
  optionalField,
  partialListAnswer,
  textField,
  answer,
} from '../http/openapi/answer.js';

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
export class UsageQueryDto {
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

export class UsageListDto extends answer({
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

export class TenantListDto extends partialListAnswer(TenantDto) {}

export const usageDto = (row: Partial<UsageGroup> & UsageSums): UsageDto => ({
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

export const usageTodayDto = (sums: UsageSums | undefined): UsageTodayDto => ({
  requests: sums?.requests ?? 0,
  audio_s: (sums?.audioMs ?? 0) / 1000,
  input_tokens: sums?.inputTokens ?? 0,
  output_tokens: sums?.outputTokens ?? 0,
});

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Field } from '../../contracts/openai/field.decorators.js';
import { commaSeparated, type FieldType, repeatedOneOf, textLike } from '../../contracts/openai/field-types.js';
import { USAGE_GROUPS, type UsageGroup, type UsageSums } from '../../core/access/usage-store.port.js';

const DAY = textLike(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/, 'must be a day such as 2027-01-31');
const GROUPS: FieldType = {
  schema: { type: String },
  checks: repeatedOneOf(USAGE_GROUPS).checks,
  shape: commaSeparated(USAGE_GROUPS.length, Infinity).shape!,
};

export class UsageQueryDto {
  @Field(DAY, { example: '2027-01-01', description: 'First day, UTC; absent: 29 days before the last.' })
  from?: string;

  @Field(DAY, { example: '2027-01-31', description: 'Last day, UTC; absent: today.' })
  to?: string;

  @Field(GROUPS, { example: 'day,tenant', description: 'Out of day, tenant, key, model.' })
  group_by: (keyof UsageGroup)[] = ['day'];

  @Field(textLike(/^[~\w.-]{1,64}$/, 'must be the name of a tenant'), {
    example: 'acme',
    description: 'Of this tenant only.',
  })
  tenant?: string;
}

export class UsageDto {
  @ApiPropertyOptional({ example: '2027-01-31' }) day?: string;
  @ApiPropertyOptional() tenant?: string;
  @ApiPropertyOptional({ description: 'Id of the key; empty: requests without keys.' }) key?: string;
  @ApiPropertyOptional() model?: string;
  @ApiProperty({ description: 'All that ended.' }) requests!: number;
  @ApiProperty() completed!: number;
  @ApiProperty() failed!: number;
  @ApiProperty() cancelled!: number;
  @ApiProperty({ description: 'Recognized or synthesized.' }) audio_s!: number;
  @ApiProperty({ description: 'Of text to synthesize.' }) characters!: number;
  @ApiProperty() input_tokens!: number;
  @ApiProperty() output_tokens!: number;
  @ApiProperty({ description: 'Time of engine calls; calls for several requests are divided equally.' })
  device_ms!: number;
}

export class UsageListDto {
  @ApiProperty({ enum: ['list'] }) object!: 'list';
  @ApiProperty({ example: '2027-01-01' }) from!: string;
  @ApiProperty({ example: '2027-01-31' }) to!: string;
  @ApiProperty({ type: [UsageDto] }) data!: UsageDto[];
  @ApiProperty({ description: 'More than 10,000 groups: ask for fewer days or groups.' }) has_more!: boolean;
}

export class UsageTodayDto {
  @ApiProperty() requests!: number;
  @ApiProperty() audio_s!: number;
  @ApiProperty() input_tokens!: number;
  @ApiProperty() output_tokens!: number;
}

export class TenantDto {
  @ApiProperty({ enum: ['tenant'] }) object!: 'tenant';
  @ApiProperty({ example: 'acme' }) id!: string;
  @ApiProperty({ description: 'Keys that are not revoked.' }) keys!: number;
  @ApiProperty({ type: Object, description: 'By name; 0 = unlimited.', example: { requests_per_minute: 60 } })
  limits!: Readonly<Record<string, number>>;
  @ApiProperty({ description: 'Its share of a busy model is this, divided by the weights of all who wait.' })
  weight!: number;
  @ApiProperty({ type: UsageTodayDto, description: 'Since 00:00 UTC.' }) usage_today!: UsageTodayDto;
}

export class TenantListDto {
  @ApiProperty({ enum: ['list'] }) object!: 'list';
  @ApiProperty({ type: [TenantDto] }) data!: TenantDto[];
  @ApiProperty() has_more!: boolean;
}

export const usageDto = ({ day, tenant, key, model, ...sums }: Partial<UsageGroup> & UsageSums): UsageDto => ({
  ...(day !== undefined && { day }),
  ...(tenant !== undefined && { tenant }),
  ...(key !== undefined && { key }),
  ...(model !== undefined && { model }),
  ...{ requests: sums.requests, completed: sums.completed, failed: sums.failed, cancelled: sums.cancelled },
  audio_s: sums.audioMs / 1000,
  characters: sums.characters,
  input_tokens: sums.inputTokens,
  output_tokens: sums.outputTokens,
  device_ms: sums.deviceMs,
});

export const usageTodayDto = (sums: UsageSums | undefined): UsageTodayDto => ({
  requests: sums?.requests ?? 0,
  audio_s: (sums?.audioMs ?? 0) / 1000,
  input_tokens: sums?.inputTokens ?? 0,
  output_tokens: sums?.outputTokens ?? 0,
});

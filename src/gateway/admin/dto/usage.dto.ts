import { type UsageSums, type UsageGroup } from '../../../core/access/usage-row.js';
import { numberField, optionalField, textField, answer } from '../../http/openapi/answer.js';

export class UsageDto extends answer({
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

export class UsageTodayDto extends answer({
  requests: Number,
  audio_s: Number,
  input_tokens: Number,
  output_tokens: Number,
}) {}

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

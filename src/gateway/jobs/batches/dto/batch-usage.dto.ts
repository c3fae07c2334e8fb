import { type BatchUsage } from '../../../../core/jobs/batch-job.js';
import { answer } from '../../../http/openapi/answer.js';
import { InputTokensDetailsDto, OutputTokensDetailsDto } from './token-details.dto.js';

export class BatchUsageDto extends answer({
  input_tokens: Number,
  input_tokens_details: InputTokensDetailsDto,
  output_tokens: Number,
  output_tokens_details: OutputTokensDetailsDto,
  total_tokens: Number,
}) {}

export const usageView = ({
  inputTokens,
  outputTokens,
  cachedTokens,
  reasoningTokens,
}: BatchUsage) => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens,
});

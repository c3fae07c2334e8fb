import { type TokenUsage } from '../../core/jobs/batch-job.js';

/** `usage` of an answer's body in any of OpenAI's spellings; undefined when it tells no tokens. */
export function usageOf(body: unknown): TokenUsage | undefined {
  const usage = field(body, 'usage');
  const inputTokens = count(usage, 'prompt_tokens') ?? count(usage, 'input_tokens');
  const outputTokens = count(usage, 'completion_tokens') ?? count(usage, 'output_tokens');
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  const input = field(usage, 'prompt_tokens_details') ?? field(usage, 'input_tokens_details');
  const output = field(usage, 'completion_tokens_details') ?? field(usage, 'output_tokens_details');
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cachedTokens: count(input, 'cached_tokens') ?? 0,
    reasoningTokens: count(output, 'reasoning_tokens') ?? 0,
  };
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

function count(value: unknown, name: string): number | undefined {
  const found = field(value, name);
  return Number.isSafeInteger(found) && Number(found) >= 0 ? Number(found) : undefined;
}

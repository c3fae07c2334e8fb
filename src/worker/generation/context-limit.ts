import { DomainError } from '../../core/shared/domain-error.js';

interface TooLong {
  readonly form: 'chat' | 'completion';
  readonly promptTokens: number;
  /** Prompt and answer. */
  readonly tokens: number;
  readonly limit: number;
}

/** What can never fit, in OpenAI's words: clients look for them. */
export function contextExceeded({ form, promptTokens, tokens, limit }: TooLong): DomainError {
  const param = form === 'chat' ? 'messages' : 'prompt';
  const asked =
    promptTokens >= limit
      ? `your ${param} resulted in ${promptTokens} tokens. Please reduce the length of the ${param}`
      : `you requested ${tokens} tokens (${promptTokens} in the ${param}, ${tokens - promptTokens} in the completion). ` +
        `Please reduce the length of the ${param} or completion`;
  const message = `This model's maximum context length is ${limit} tokens. However, ${asked}.`;
  return new DomainError('context_length_exceeded', message, { param });
}

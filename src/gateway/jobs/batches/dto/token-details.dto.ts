import { answer } from '../../../http/openapi/answer.js';

export class InputTokensDetailsDto extends answer({
  cached_tokens: Number,
  cache_write_tokens: Number,
}) {}

export class OutputTokensDetailsDto extends answer({ reasoning_tokens: Number }) {}

/** A token that was drawn, or could have been. */
export interface ScoredToken {
  /** UTF-8; may be a part of a character. */
  readonly bytes: Buffer;
  /** Natural logarithm, <= 0. */
  readonly logprob: number;
}

export interface DrawnToken extends ScoredToken {
  /** The likeliest at this place. */
  readonly top: readonly ScoredToken[];
  /** Where its text begins, in characters. */
  readonly offset: number;
}

/** OpenAI names a token that is no text by itself after its bytes; else many tokens would have one name. */
function nameOf(bytes: Buffer, prefix = ''): string {
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  return prefix + [...bytes].map(byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}

const chatToken = ({ bytes, logprob }: ScoredToken) => ({ token: nameOf(bytes), logprob, bytes: [...bytes] });

/** OpenAI's `choices[].logprobs` of a chat. */
export const chatLogprobs = (tokens: readonly DrawnToken[]): object => ({
  content: tokens.map(token => ({ ...chatToken(token), top_logprobs: token.top.map(chatToken) })),
  refusal: null,
});

const completionToken = (bytes: Buffer): string => nameOf(bytes, 'bytes:');

/** OpenAI's `choices[].logprobs` of a completion. */
export const completionLogprobs = (tokens: readonly DrawnToken[]): object => ({
  tokens: tokens.map(({ bytes }) => completionToken(bytes)),
  token_logprobs: tokens.map(({ logprob }) => logprob),
  top_logprobs: tokens.map(({ top }) =>
    Object.fromEntries(top.map(({ bytes, logprob }) => [completionToken(bytes), logprob])),
  ),
  text_offset: tokens.map(({ offset }) => offset),
});

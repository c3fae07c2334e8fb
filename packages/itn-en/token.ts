/** What a rule wrote for the tokens up to `end` (exclusive). */
export interface Written {
  readonly text: string;
  readonly end: number;
}

/**
 * Reads a phrase that starts at `at`. Looks one word back and a bounded way ahead, or
 * consumes all that it looked at: that is what keeps the whole linear.
 */
export type Rule = (tokens: Tokens, at: number) => Written | undefined;

/**
 * The first rule that reads a phrase writes it; a token that starts none stays as it is.
 */
export function rewrite(tokens: Tokens, rules: readonly Rule[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (let first = tokens[at]; first; first = tokens[at]) {
    const { text, end } = firstMatch(tokens, at, rules) ?? {
      text: first.spoken,
      end: at + 1,
    };
    pieces.push(first.gap, first.before, text, afterOf(tokens[end - 1], text));
    at = end;
  }
  return pieces.join('');
}

function firstMatch(
  tokens: Tokens,
  at: number,
  rules: readonly Rule[],
): Written | undefined {
  for (const rule of rules) {
    const written = rule(tokens, at);
    if (written) return written;
  }
  return undefined;
}

/** "3 p.m." at the end of a sentence has one full stop, not two. */
function afterOf(last: Token | undefined, text: string): string {
  const after = last?.after ?? '';
  return text.endsWith('.') && after.startsWith('.') ? after.slice(1) : after;
}

/**
 * A word of the text, with all that stood around it: the tokens in order are the text
 * again, byte for byte.
 */
export interface Token {
  /** White space before it, or the hyphen inside a compound such as `twenty-five`. */
  readonly gap: string;
  readonly before: string;
  readonly spoken: string;
  readonly after: string;
  /** What rules compare: `spoken` in lower case, apostrophes straight. */
  readonly word: string;
}

export type Tokens = readonly Token[];

/**
 * The word at `at` if nothing but space or a hyphen parts it from the one before; ''
 * ends every phrase.
 */
export function continued(tokens: Tokens, at: number): string {
  return joins(tokens, at) ? (tokens[at]?.word ?? '') : '';
}

/** The word before `at`, under the same condition. */
export function wordBefore(tokens: Tokens, at: number): string {
  return joins(tokens, at) ? (tokens[at - 1]?.word ?? '') : '';
}

/** Index after the words of `phrase` when they continue at `at`. */
export function continuesWith(
  tokens: Tokens,
  at: number,
  phrase: readonly string[],
): number | undefined {
  return phrase.every((word, index) => continued(tokens, at + index) === word)
    ? at + phrase.length
    : undefined;
}

/**
 * Tokens `from` (inclusive) to `to`, as they were, without what stands around the whole.
 */
export function asSpoken(tokens: Tokens, from: number, to: number): string {
  return tokens
    .slice(from, to)
    .map((token, index) => `${index > 0 ? token.gap : ''}${token.spoken}`)
    .join('');
}

function joins(tokens: Tokens, at: number): boolean {
  return tokens[at - 1]?.after === '' && tokens[at]?.before === '';
}

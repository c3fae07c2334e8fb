/** What a rule wrote for the tokens up to `last`. */
export interface Written {
  readonly text: string;
  readonly last: Token;
}

/**
 * Reads a phrase that begins with `first`. Looks one word back and a bounded way ahead, or
 * consumes all that it looked at: that is what keeps the whole linear.
 */
export type Rule = (first: Token) => Written | undefined;

/**
 * The first rule that reads a phrase writes it; a token that starts none stays as it is.
 */
export function rewrite(begin: Token | undefined, rules: readonly Rule[]): string {
  const pieces: string[] = [];
  for (let first = begin; first;) {
    const { text, last } = firstMatch(first, rules) ?? {
      text: first.spoken,
      last: first,
    };
    pieces.push(first.gap, first.before, text, afterOf(last, text));
    first = last.following;
  }
  return pieces.join('');
}

function firstMatch(first: Token, rules: readonly Rule[]): Written | undefined {
  for (const rule of rules) {
    const written = rule(first);
    if (written) return written;
  }
  return undefined;
}

/** "3 p.m." at the end of a sentence has one full stop, not two. */
const afterOf = ({ after }: Token, text: string): string =>
  text.endsWith('.') && after.startsWith('.') ? after.slice(1) : after;

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
  /** The one after it in the text. */
  following?: Token;
  /**
   * Its neighbours in a phrase: nothing but space or a hyphen parts them. `END` is before
   * and behind every phrase, and its word is empty.
   */
  next: Token;
  previous: Token;
}

const END = { gap: '', before: '', spoken: '', after: '', word: '' } as Token;
END.next = END;
END.previous = END;

const WORD_CHARACTER = /[\p{L}\p{N}]/u;

/**
 * Cuts at white space and at hyphens inside words. Linear: no pattern here can look at
 * a character twice.
 * @returns `tail`: white space after the last token
 */
export function tokenize(text: string) {
  const tokens: Token[] = [];
  let end = 0;
  for (const { 0: chunk, index } of text.matchAll(/\S+/g)) {
    pushChunk(tokens, chunk, text.slice(end, index));
    end = index + chunk.length;
  }
  tokens.forEach((token, index) => {
    const following = tokens[index + 1];
    if (!following) return;
    token.following = following;
    if (token.after !== '' || following.before !== '') return;
    token.next = following;
    following.previous = token;
  });
  return { first: tokens[0], tail: text.slice(end) };
}

function pushChunk(tokens: Token[], chunk: string, gap: string): void {
  let from = 0;
  let to = chunk.length;
  while (from < to && !WORD_CHARACTER.test(chunk.charAt(from))) from += 1;
  while (to > from && !WORD_CHARACTER.test(chunk.charAt(to - 1))) to -= 1;
  const parts = chunk.slice(from, to).split('-');
  parts.forEach((spoken, index) => {
    tokens.push({
      gap: index === 0 ? gap : '-',
      before: index === 0 ? chunk.slice(0, from) : '',
      spoken,
      after: index === parts.length - 1 ? chunk.slice(to) : '',
      word: spoken.toLowerCase().replaceAll('’', "'"),
      next: END,
      previous: END,
    });
  });
}

/** The last word of `phrase`, if it begins with `first`. */
export function lastOf(phrase: readonly string[], first: Token): Token | undefined {
  let last: Token | undefined;
  let at = first;
  for (const word of phrase) {
    if (at.word !== word) return undefined;
    last = at;
    at = at.next;
  }
  return last;
}

/** The tokens as they were, without what stands around the whole. */
export function asSpoken(first: Token, last: Token): string {
  let text = first.spoken;
  for (let at = first; at !== last; at = at.next) text += at.next.gap + at.next.spoken;
  return text;
}

/** What a phrase means or how it is written, and its last word. */
export interface Read<T> {
  readonly value: T;
  readonly last: Token;
}

/**
 * Reads a phrase that begins with `first`. Looks one word back and a bounded way ahead, or
 * consumes all that it looked at: that is what keeps the whole linear.
 */
export type Phrase<T> = (first: Token) => Read<T> | undefined;

/** A phrase that reads the first of `phrases` that matches. */
export const anyOf =
  <T>(...phrases: readonly Phrase<T>[]): Phrase<T> =>
  first => {
    for (const phrase of phrases) {
      const read = phrase(first);
      if (read) return read;
    }
    return undefined;
  };

/** A word that has a meaning. */
export const named =
  <T>(meanings: ReadonlyMap<string, T>): Phrase<T> =>
  last => {
    const value = meanings.get(last.word);
    return value === undefined ? undefined : { value, last };
  };

/** Exactly these words, in one of these ways. */
export const said = <T>(value: T, ...ways: readonly string[]): Phrase<T> =>
  anyOf(...ways.map(way => inOrder(value, way.split(' '))));

const inOrder =
  <T>(value: T, words: readonly string[]): Phrase<T> =>
  first => {
    let [last, next] = [first, first];
    for (const word of words) {
      if (next.word !== word) return undefined;
      [last, next] = [next, next.next];
    }
    return { value, last };
  };

/** A phrase that reads `begin` and then, from the next token, `end`. */
export const both =
  <A, B, T>(begin: Phrase<A>, end: Phrase<B>, value: (first: A, second: B) => T): Phrase<T> =>
  first => {
    const one = begin(first);
    const two = one && end(one.last.next);
    return two && { value: value(one.value, two.value), last: two.last };
  };

/**
 * The first rule that reads a phrase writes it; a token that starts none stays as it is.
 */
export function rewrite(begin: Token | undefined, rules: readonly Phrase<string>[]): string {
  const rule = anyOf(...rules);
  const pieces: string[] = [];
  for (let first = begin; first;) {
    const { value, last } = rule(first) ?? { value: first.spoken, last: first };
    pieces.push(first.gap, first.before, value, afterOf(last, value));
    first = last.following;
  }
  return pieces.join('');
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
  /** The next token of the text. */
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

/** The tokens as they were, without what stands around the whole. */
export function asSpoken(first: Token, last: Token): string {
  let text = first.spoken;
  for (let at = first; at !== last; at = at.next) text += at.next.gap + at.next.spoken;
  return text;
}

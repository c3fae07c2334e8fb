const SPACELESS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}`;

/**
 * Words of scripts with spaces, with the space before them; single characters
 * of scripts without.
 */
const TOKENS = new RegExp(String.raw`\s*[${SPACELESS}]|\s*[^\s${SPACELESS}]+`, 'gu');

/** What one hypothesis alone is believed: so many first words, if as many follow them. */
const BELIEVED = 3;
/** Recognisers of which fewer must agree have few hypotheses, seconds apart. */
const FREQUENT = 3;

/**
 * Makes append-only deltas out of revised hypotheses: a word is sent once
 * `agreement` hypotheses in a row agree on it and on all words before it, and never when it is
 * the last word, which is still being spoken. Where hypotheses are few, the first words are sent
 * once others follow them. The rest comes with the final text.
 *
 * What was sent is not revised. When the recogniser revises it, the rest is appended
 * where it fits best, and only the completed transcript is right (README "Deltas").
 */
export class StableText {
  #hypotheses: (readonly string[])[] = [];
  #sent: readonly string[];

  /** @param sent words that another gateway has sent */
  constructor(sent: readonly string[] = []) {
    this.#sent = sent;
  }

  get sent(): readonly string[] {
    return this.#sent;
  }

  /** The text to send for this hypothesis; empty when nothing new is stable. */
  partial(hypothesis: string, agreement: number): string {
    const tokens = tokensOf(hypothesis);
    this.#hypotheses = [...this.#hypotheses, tokens].slice(-agreement);
    const agreed = this.#hypotheses.map(other => commonPrefix(tokens, other));
    const length = agreed.length < agreement ? 0 : Math.min(tokens.length - 1, ...agreed);
    const isFirst = agreement < FREQUENT && this.#sent.length === 0;
    const first = isFirst ? Math.min(BELIEVED, tokens.length - BELIEVED) : 0;
    return this.#append(tokens.slice(0, Math.max(0, length, first)));
  }

  /** What is left to send of the final text. */
  final(text: string): string {
    return this.#append(tokensOf(text));
  }

  #append(tokens: readonly string[]): string {
    const rest = tokens.slice(bestContinuation(this.#sent, tokens));
    this.#sent = [...this.#sent, ...rest];
    return rest.join('');
  }
}

const tokensOf = (text: string): string[] => text.trim().match(TOKENS) ?? [];

function commonPrefix(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < a.length && length < b.length && sounds(a[length]) === sounds(b[length]))
    length += 1;
  return length;
}

/** Case and punctuation follow from what comes behind a word. */
const sounds = (token?: string): string | undefined =>
  token?.toLowerCase().replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');

/**
 * Number of tokens of `text` nearest to `sent`, by edit distance; of equally near
 * ones the longest.
 */
function bestContinuation(sent: readonly string[], text: readonly string[]): number {
  let distances = Array.from({ length: text.length + 1 }, (_, at) => at);
  sent.forEach((word, row) => {
    const next = [row + 1];
    text.forEach((other, at) => {
      const changed = distances[at]! + (word === other ? 0 : 1);
      next.push(Math.min(changed, distances[at + 1]! + 1, next[at]! + 1));
    });
    distances = next;
  });
  return distances.lastIndexOf(Math.min(...distances));
}

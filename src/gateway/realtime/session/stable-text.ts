const SPACELESS = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}`;

/**
 * Words of scripts with spaces, with the space before them; single characters
 * of scripts without.
 */
const TOKENS = new RegExp(String.raw`\s*[${SPACELESS}]|\s*[^\s${SPACELESS}]+`, 'gu');

/**
 * Makes append-only deltas out of revised hypotheses: a word is sent once
 * `agreement` hypotheses in a row agree on it and on all words before it, and never when it is
 * the last word, which is still being spoken. The rest comes with the final text.
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
    if (this.#hypotheses.length < agreement) return '';
    const agreed = this.#hypotheses.reduce(
      (length, other) => Math.min(length, commonPrefix(tokens, other)),
      tokens.length - 1,
    );
    return this.#append(tokens.slice(0, Math.max(0, agreed)));
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
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

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

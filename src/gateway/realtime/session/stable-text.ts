/** Words of scripts with spaces, with the space before them; single characters of scripts without. */
const TOKENS =
  /\s*[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|\s*[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;

/** So many guesses in a row must agree on a word. */
const AGREEING = 3;

/**
 * Makes append-only deltas out of revised guesses: a word is said once three guesses in a row agree on it and on all before it,
 * and never when it is a guess's last word, which is still being spoken. The rest comes with the final text.
 *
 * What was said is not taken back. When the recogniser changes its mind about it, the rest follows where it fits best, and only
 * the completed transcript is right (README "Deltas").
 */
export class StableText {
  #guesses: (readonly string[])[] = [];
  #said: readonly string[];

  /** @param said words that were told before, by another gateway */
  constructor(said: readonly string[] = []) {
    this.#said = said;
  }

  get said(): readonly string[] {
    return this.#said;
  }

  /** The text to send for this guess; empty when nothing new is stable. */
  partial(guess: string): string {
    const tokens = tokensOf(guess);
    this.#guesses = [...this.#guesses, tokens].slice(-AGREEING);
    if (this.#guesses.length < AGREEING) return '';
    const agreed = this.#guesses.reduce(
      (length, other) => Math.min(length, commonPrefix(tokens, other)),
      tokens.length - 1,
    );
    return this.#say(tokens.slice(0, Math.max(0, agreed)));
  }

  /** What is left to send of the final text. */
  final(text: string): string {
    return this.#say(tokensOf(text));
  }

  #say(tokens: readonly string[]): string {
    const rest = tokens.slice(bestContinuation(this.#said, tokens));
    this.#said = [...this.#said, ...rest];
    return rest.join('');
  }
}

const tokensOf = (text: string): string[] => text.trim().match(TOKENS) ?? [];

function commonPrefix(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

/** How much of `text` is nearest to `said`, by edit distance; of equally near ones the longest. */
function bestContinuation(said: readonly string[], text: readonly string[]): number {
  let distances = Array.from({ length: text.length + 1 }, (_, at) => at);
  said.forEach((word, row) => {
    const next = [row + 1];
    text.forEach((other, at) => {
      const changed = distances[at]! + (word === other ? 0 : 1);
      next.push(Math.min(changed, distances[at + 1]! + 1, next[at]! + 1));
    });
    distances = next;
  });
  return distances.lastIndexOf(Math.min(...distances));
}

/** Words of scripts with spaces, with the space before them; single characters of scripts without. */
const TOKENS =
  /\s*[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|\s*[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;

/**
 * Makes append-only deltas out of revised guesses: a word is said once two guesses in a row agree on it and on all before it,
 * and never when it is a guess's last word, which is still being spoken. The rest comes with the final text. What was
 * said is not taken back; where the final text differs from it, only the completed transcript tells (README "Deltas").
 */
export class StableText {
  #last: readonly string[] = [];
  #said: readonly string[] = [];

  /** The text to send for this guess; empty when nothing new is stable. */
  partial(guess: string): string {
    const tokens = tokensOf(guess);
    const agreed = commonPrefix(this.#last, tokens.slice(0, -1));
    this.#last = tokens;
    return this.#say(tokens.slice(0, agreed));
  }

  /** What is left to send of the final text; empty when it contradicts what was said. */
  final(text: string): string {
    return this.#say(tokensOf(text));
  }

  #say(tokens: readonly string[]): string {
    const continues = commonPrefix(this.#said, tokens) === this.#said.length;
    if (!continues || tokens.length === this.#said.length) return '';
    const added = tokens.slice(this.#said.length).join('');
    this.#said = tokens;
    return added;
  }
}

const tokensOf = (text: string): string[] => text.trim().match(TOKENS) ?? [];

function commonPrefix(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

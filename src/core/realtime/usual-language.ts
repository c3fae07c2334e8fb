/**
 * The language that most of the speech of a session was in: a pass over its next words need not
 * find it out, and would often be wrong about half a second.
 */
export class UsualLanguage {
  readonly #seconds = new Map<string, number>();

  add(language: string, seconds: number): void {
    if (language !== '') this.#seconds.set(language, seconds + (this.#seconds.get(language) ?? 0));
  }

  /** Empty: nothing was heard. */
  get code(): string {
    const most = Math.max(...this.#seconds.values());
    return [...this.#seconds].find(([, seconds]) => seconds === most)?.[0] ?? '';
  }
}

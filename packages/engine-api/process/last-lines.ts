/** The newest `size` lines. */
export class LastLines {
  readonly #lines: string[] = [];

  constructor(private readonly size: number) {}

  add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > this.size) this.#lines.shift();
  }

  get lines(): readonly string[] {
    return [...this.#lines];
  }
}

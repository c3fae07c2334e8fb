/**
 * The fields of one request that only advise and cannot be honoured (D-34): accepted and reported to the caller by their paths,
 * or refused when `compat.strict` is on.
 */
export class IgnoredFields {
  readonly #paths: string[] = [];

  constructor(readonly strict = false) {}

  add(path: string): void {
    this.#paths.push(path);
  }

  get paths(): readonly string[] {
    return this.#paths;
  }
}

/** Header that names the ignored fields of an HTTP request, separated by commas. */
export const IGNORED_HEADER = 'x-switchyard-ignored';

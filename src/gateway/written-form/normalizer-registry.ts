/** Inverse text normalisation of one language: "twenty five percent" → "25%". */
export interface InverseTextNormalizer {
  /** Primary BCP-47 subtag, lower-case, such as `en`. */
  readonly language: string;
  /**
   * Spoken form → written form, in time linear in the length of the text. Text that is
   * written already comes back unchanged. Adapters may throw: `WrittenForm` answers with
   * the spoken form then.
   */
  normalize(text: string): string;
}

/** The normalisers at hand, one per language. */
export class NormalizerRegistry {
  readonly #byLanguage: ReadonlyMap<string, InverseTextNormalizer>;

  constructor(normalizers: readonly InverseTextNormalizer[]) {
    this.#byLanguage = new Map(
      normalizers.map(normalizer => [normalizer.language, normalizer]),
    );
  }

  /** Regions do not matter: `en-GB` finds `en`. */
  find(tag: string): InverseTextNormalizer | undefined {
    return this.#byLanguage.get((tag.split('-', 1)[0] ?? '').toLowerCase());
  }

  /** For messages: `en, de`. */
  get languages(): string {
    return [...this.#byLanguage.keys()].join(', ');
  }
}

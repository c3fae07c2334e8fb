import { type InverseTextNormalizer } from './inverse-text-normalizer.port.js';

/** The normalisers at hand, one per language. */
export class NormalizerRegistry {
  private readonly byLanguage: ReadonlyMap<string, InverseTextNormalizer>;

  constructor(normalizers: readonly InverseTextNormalizer[]) {
    this.byLanguage = new Map(normalizers.map(normalizer => [normalizer.language, normalizer]));
  }

  /** Regions do not matter: `en-GB` finds `en`. */
  find(tag: string): InverseTextNormalizer | undefined {
    return this.byLanguage.get((tag.split('-', 1)[0] ?? '').toLowerCase());
  }

  /** For messages: `en, de`. */
  get languages(): string {
    return [...this.byLanguage.keys()].join(', ');
  }
}

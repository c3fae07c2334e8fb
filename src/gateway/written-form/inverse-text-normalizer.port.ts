/** Inverse text normalisation of one language: "twenty five percent" → "25%". */
export interface InverseTextNormalizer {
  /** Primary BCP-47 subtag, lower-case, such as `en`. */
  readonly language: string;
  /**
   * Spoken form → written form, in time linear in the length of the text. Text that is written already comes back
   * unchanged. Adapters may throw: `WrittenForm` answers with the spoken form then.
   */
  normalize(text: string): string;
}

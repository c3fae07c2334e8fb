/** One place of a source that is changed, and the specs that should notice. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  /** Characters of the file that `replacement` replaces. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly specs: readonly string[];
  /** What would be wrong. */
  readonly meaning: string;
}

/** @throws SetupError when a text of the list does not stand in its file exactly once */
export function committedMutants(): readonly Mutant[];

/** Changes that no caller can notice. @throws SetupError as above */
export function equivalentMutants(): readonly Omit<Mutant, 'specs'>[];

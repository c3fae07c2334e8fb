export interface Step {
  readonly name: string;
  /** Folders of its spec files. */
  readonly folders?: readonly string[];
}

export interface Tier {
  /** That runs its steps. */
  readonly command: string;
  readonly steps: readonly Step[];
}

export const TIERS: Readonly<Record<'test' | 'gate' | 'night', Tier>>;

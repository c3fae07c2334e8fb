/** Utterances under way, and the numbers that go on. */
export interface ItemsState {
  readonly next: number;
  readonly finals: number;
  readonly segments: number;
  readonly lastItemId: string | null;
  readonly open: readonly OpenItemState[];
}

export interface OpenItemState {
  readonly utterance: number;
  readonly id: string;
  /** Words that were told. */
  readonly said: readonly string[];
  readonly started: boolean;
  readonly stopped: boolean;
  readonly committed: boolean;
  readonly discarded: boolean;
}

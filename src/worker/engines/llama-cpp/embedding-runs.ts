/** One text of a group: whose it is, and which of its. */
export interface TextPiece {
  readonly item: number;
  readonly input: number;
  readonly tokens: Int32Array;
}

export interface RunBounds {
  /** Each text has at most so many. */
  readonly batchTokens: number;
  readonly batchTexts: number;
}

/**
 * Texts of all requests of a group in as few native runs as fit, like lengths together: a run computes every pair of its
 * positions, so a short text beside a long one costs more than among its like.
 */
export function embeddingRuns(pieces: readonly TextPiece[], { batchTokens, batchTexts }: RunBounds): TextPiece[][] {
  const runs: TextPiece[][] = [];
  let run: TextPiece[] = [];
  let tokens = 0;
  for (const piece of pieces.toSorted((a, b) => a.tokens.length - b.tokens.length)) {
    if (run.length === batchTexts || tokens + piece.tokens.length > batchTokens) {
      runs.push(run);
      run = [];
      tokens = 0;
    }
    run.push(piece);
    tokens += piece.tokens.length;
  }
  return run.length > 0 ? [...runs, run] : runs;
}

/**
 * What llama.cpp writes of a sequence: two numbers, the number of streams, and for each
 * stream how many cells follow and those. Only one stream has cells of the sequence: its
 * own, or the one that all share. Numbers have 4 bytes.
 */
const STREAMS_AT = 8;
const CELLS_AT = 12;

/**
 * Bytes of a sequence without tokens, where this form is the model's: a second memory
 * would add to it.
 */
export const emptyStateSize = (streams: number): number => CELLS_AT + 4 * streams;

/**
 * The state of a sequence from a context with so many streams, for one with another
 * number; one of the two is 1.
 */
export function movedState(
  state: Buffer,
  sequence: number,
  from: number,
  to: number,
): Buffer {
  const own = from === 1 ? 0 : sequence;
  const cells = state.subarray(CELLS_AT + 4 * own, state.length - 4 * (from - 1 - own));
  const moved = Buffer.concat([
    state.subarray(0, CELLS_AT),
    cells,
    Buffer.alloc(4 * (to - 1)),
  ]);
  moved.writeUInt32LE(to, STREAMS_AT);
  return moved;
}

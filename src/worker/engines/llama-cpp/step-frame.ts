import { type StepItem } from '../../../core/iteration/generation-plan.js';
import { type TextSequence } from '../../generation/text-backend.port.js';
import { COPY, CUT, type SequenceStart, type StepFrame } from './llama-protocol.js';
import { type Placement, type SlotOperation } from './slot-memory.js';

/** An item with its place, and all tokens that have to go through the model for it: what the slot lacks comes first. */
export interface PlacedItem {
  readonly item: StepItem<TextSequence>;
  readonly placement: Placement;
  readonly pending: readonly number[];
}

export interface Chunk {
  readonly slot: number;
  readonly position: number;
  readonly tokens: readonly number[];
  readonly draws: boolean;
}

/** Where a frame stands: what is done before its run, and whether it goes on from the frame before it. */
export interface FrameStart {
  readonly follows: boolean;
  readonly operations: readonly SlotOperation[];
  readonly begins: readonly SequenceStart[];
}

export function frameOf({ follows, operations, begins }: FrameStart, chunks: readonly Chunk[]): StepFrame {
  return {
    follows,
    operations: Int32Array.from(operations.flatMap(operation => columns(operation))),
    begins,
    items: Int32Array.from(
      chunks.flatMap(({ slot, position, tokens, draws }) => [slot, position, tokens.length, draws ? 1 : 0]),
    ),
    tokens: Uint32Array.from(chunks.flatMap(({ tokens }) => tokens)),
  };
}

function columns(operation: SlotOperation): number[] {
  const { slot, keep } = operation;
  return operation.type === 'cut' ? [CUT, slot, keep, 0] : [COPY, slot, keep, operation.from];
}

/**
 * The native runs for these items: one, unless what slots lack makes them too long together. The last one has every item's
 * last token in it, and all draws; those before it compute what was lacking.
 */
export function runsOf(placed: readonly PlacedItem[], mostTokens: number): Chunk[][] {
  const early: Chunk[] = [];
  let room = mostTokens - placed.length;
  const last = placed.map(({ item, placement: { slot, have }, pending }) => {
    const now = Math.min(pending.length - 1, room) + 1;
    room -= now - 1;
    const behind = pending.length - now;
    if (behind > 0) early.push({ slot, position: have, tokens: pending.slice(0, behind), draws: false });
    return { slot, position: have + behind, tokens: pending.slice(behind), draws: item.sample };
  });
  return [...early.flatMap(chunk => slices(chunk, mostTokens)), last];
}

function slices(chunk: Chunk, most: number): Chunk[][] {
  return Array.from({ length: Math.ceil(chunk.tokens.length / most) }, (_, index) => [
    {
      ...chunk,
      position: chunk.position + index * most,
      tokens: chunk.tokens.slice(index * most, (index + 1) * most),
    },
  ]);
}

import { type SlotCosts } from '../llama-protocol.js';
import { type NativeContext } from './llama-library.js';

const TOKENS = 32;
const NONE = new Uint32Array(0);

/** The first run of everything is slow; the second one is measured: what a token of a prompt, and a copy of a sequence, cost. */
export async function warmUp(context: NativeContext, token: number, rows: number): Promise<SlotCosts> {
  const computing = async (sequence: number, position: number, count: number): Promise<number> => {
    const beginMs = performance.now();
    context.initBatch(count);
    context.addToBatch(sequence, position, new Uint32Array(count).fill(token), NONE);
    await context.decodeBatch();
    return performance.now() - beginMs;
  };
  await computing(0, 0, TOKENS);
  const computeMs = (await computing(0, TOKENS, TOKENS)) / TOKENS;
  const copyMs = rows > 1 ? await copying(context, computing) : 0;
  for (let slot = 0; slot < Math.min(rows, 2); slot++) context.disposeSequence(slot);
  return { computeMs, copyMs };
}

/** The library only notes a copy; the next run makes it. */
async function copying(
  context: NativeContext,
  computing: (sequence: number, position: number, count: number) => Promise<number>,
): Promise<number> {
  const aloneMs = await computing(0, 2 * TOKENS, 1);
  await context.copySequenceStateFromOtherSequence(1, 0);
  return Math.max(0, (await computing(1, 2 * TOKENS + 1, 1)) - aloneMs);
}

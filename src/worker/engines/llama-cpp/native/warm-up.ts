import { type ChildSettings, type SlotCosts } from '../llama-protocol.js';
import { type NativeContext } from './llama-library.js';

const MOST_TOKENS = 32;
const NONE = new Uint32Array(0);

/** The first run of everything is slow; the second one is measured: what a token of a prompt, and a copy of a sequence, cost. */
export async function warmUp(
  context: NativeContext,
  token: number,
  { rows, stepTokens, contextTokens }: Pick<ChildSettings, 'rows' | 'stepTokens' | 'contextTokens'>,
): Promise<SlotCosts> {
  // Twice as many, and two more, have to fit.
  const many = Math.min(MOST_TOKENS, stepTokens, Math.floor(contextTokens / 2) - 1);
  const computing = async (sequence: number, position: number, count: number): Promise<number> => {
    const beginMs = performance.now();
    context.initBatch(count);
    context.addToBatch(sequence, position, new Uint32Array(count).fill(token), NONE);
    await context.decodeBatch();
    return performance.now() - beginMs;
  };
  await computing(0, 0, many);
  const computeMs = (await computing(0, many, many)) / many;
  const copyMs = rows > 1 ? await copying(context, 2 * many, computing) : 0;
  for (let slot = 0; slot < Math.min(rows, 2); slot++) context.disposeSequence(slot);
  return { computeMs, copyMs };
}

/** The library only notes a copy; the next run makes it. */
async function copying(
  context: NativeContext,
  position: number,
  computing: (sequence: number, position: number, count: number) => Promise<number>,
): Promise<number> {
  const aloneMs = await computing(0, position, 1);
  await context.copySequenceStateFromOtherSequence(1, 0);
  return Math.max(0, (await computing(1, position + 1, 1)) - aloneMs);
}

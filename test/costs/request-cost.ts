import { expect } from '@jest/globals';
import { REFERENCE_MS, workMs } from '../../scripts/setup/machine-speed.mjs';

/**
 * CPU of the gateway's thread that one legal request may cost, milliseconds of a quiet
 * machine: CPU time grows where others share its cores and caches.
 */
export const MOST_MS = 100;
/** What costs more comes in turns of the event loop of at most so much. */
const PIECE_MS = 20;
/** What may come with twice the size, and the noise of a measurement. */
const MOST_GROWTH = 2.2;
const NOISE_MS = 25;
const RUNS = 3;
/**
 * A measurement above its limit is repeated: what others add to it is not the product's. One that is
 * within says what the least of many would say.
 */
export const MOST_RUNS = 12;

/** Makes a request of a size; what it returns sends it and checks the answer. */
export type Request = (count: number) => () => Promise<void>;

/** @param most the largest legal size */
export async function expectCheap(name: string, most: number, request: Request): Promise<void> {
  const half = await leastOf(costOf, request(most / 2));
  const mostGrown = MOST_GROWTH * half + NOISE_MS;
  const limit = Math.min(MOST_MS, mostGrown);
  let whole = await leastOf(costOf, request(most), { limit, runs: RUNS });
  const pieces = { limit: PIECE_MS, runs: MOST_RUNS };
  const longest = whole > MOST_MS ? await leastOf(longestTurnOf, request(most), pieces) : 0;
  const isInPieces = whole > MOST_MS && longest <= PIECE_MS;
  if (whole > (isInPieces ? mostGrown : limit))
    whole = await leastOf(costOf, request(most), { limit, runs: MOST_RUNS });
  if (process.env.SHOW_COSTS) console.log(name, `{${half}} {${whole} ${longest}}`);
  expect(whole).toBeLessThanOrEqual(isInPieces ? mostGrown : limit);
}

/** What it costs at least; measured until that is at most `limit`, or often enough. */
export async function leastOf(
  cost: (send: () => Promise<void>) => Promise<number>,
  send: () => Promise<void>,
  { limit, runs }: { limit: number; runs: number } = { limit: 0, runs: RUNS },
): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < runs && least > limit; run += 1)
    least = Math.min(least, await cost(send));
  return least;
}

const cpuMs = (before: NodeJS.CpuUsage): number => {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
};

/** How much more this machine takes now. */
const slowness = (): number => Math.max(1, workMs(3) / REFERENCE_MS);

/** CPU of this thread for one request. */
export async function costOf(send: () => Promise<void>): Promise<number> {
  const slow = slowness();
  const before = process.threadCpuUsage();
  await send();
  return cpuMs(before) / slow;
}

/** CPU of the longest turn of the event loop during a request. */
async function longestTurnOf(send: () => Promise<void>): Promise<number> {
  const slow = slowness();
  let longest = 0;
  let before = process.threadCpuUsage();
  const turn = (): void => {
    longest = Math.max(longest, cpuMs(before));
    before = process.threadCpuUsage();
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  await send();
  clearImmediate(next);
  return Math.max(longest, cpuMs(before)) / slow;
}

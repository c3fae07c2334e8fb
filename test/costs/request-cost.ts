import { expect } from '@jest/globals';

/**
 * CPU of the gateway's thread that one legal request may cost, milliseconds of a quiet
 * machine: CPU time grows where others share its cores and caches.
 */
export const MOST_MS = 100;
/** What reading a million numbers costs there. */
const REFERENCE_MS = 20;
/** What costs more comes in turns of the event loop of at most so much. */
const PIECE_MS = 25;
/** What may come with twice the size, and the noise of a measurement. */
const MOST_GROWTH = 2.2;
const NOISE_MS = 25;
const RUNS = 3;

/** Makes a request of a size; what it returns sends it and checks the answer. */
export type Request = (count: number) => () => Promise<void>;

/** @param most the largest legal size */
export async function expectCheap(name: string, most: number, request: Request): Promise<void> {
  const half = await costOf(request(most / 2));
  const whole = await costOf(request(most));
  const longest = whole > MOST_MS ? await longestTurnOf(request(most)) : 0;
  if (process.env.SHOW_COSTS) console.log(name, `{${half}} {${whole} ${longest}}`);
  expect(longest).toBeLessThanOrEqual(PIECE_MS);
  expect(whole).toBeLessThanOrEqual(MOST_GROWTH * half + NOISE_MS);
}

const cpuMs = (before: NodeJS.CpuUsage): number => {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
};

const NUMBERS = JSON.stringify(Array.from({ length: 1_000_000 }, (_, at) => at % 50_000));

/** How much more this machine takes now. */
function slowness(): number {
  const before = process.threadCpuUsage();
  JSON.parse(NUMBERS);
  return Math.max(1, cpuMs(before) / REFERENCE_MS);
}

/** CPU of this thread for one request; the least of some runs. */
async function costOf(send: () => Promise<void>): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < RUNS; run += 1) {
    const slow = slowness();
    const before = process.threadCpuUsage();
    await send();
    least = Math.min(least, cpuMs(before) / slow);
  }
  return least;
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

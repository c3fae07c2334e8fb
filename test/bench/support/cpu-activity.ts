import { readdirSync, readFileSync } from 'node:fs';
import { processTree } from '../../support/process-tree.js';

const SAMPLE_MS = 5;
/** A device that uses more than this share of a core, or waits for one, is at work. */
const AT_WORK = 0.2;
/** So long without work is the end of it: a model waits for nothing so long in the middle. */
const QUIET_MS = 250;
const NS_PER_MS = 1e6;

/**
 * The processes that compute: a worker and what it started. Found once, since a search of
 * /proc takes as long as a sample.
 */
export const devicesOf = (...roots: readonly (number | undefined)[]): readonly number[] => [
  ...new Set(roots.flatMap(root => processTree(root).map(({ pid }) => pid))),
];

/**
 * CPU milliseconds of processes, counted by the scheduler to the nanosecond when a thread
 * leaves its core and at each tick. What a thread used counts also when it has ended.
 */
export class CpuMeter {
  readonly #threads = new Map<string, { readonly usedNs: number; readonly waitedNs: number }>();

  constructor(private readonly pids: readonly number[]) {}

  get ms(): number {
    return this.read().usedMs;
  }

  /** `wantedMs`: used, or waited for while others had the cores. */
  read(): { readonly usedMs: number; readonly wantedMs: number } {
    for (const pid of this.pids) for (const thread of threadsOf(pid)) this.#read(thread);
    let [usedMs, wantedMs] = [0, 0];
    for (const { usedNs, waitedNs } of this.#threads.values()) {
      usedMs += usedNs / NS_PER_MS;
      wantedMs += (usedNs + waitedNs) / NS_PER_MS;
    }
    return { usedMs, wantedMs };
  }

  #read(thread: string): void {
    try {
      const [usedNs = 0, waitedNs = 0] = readFileSync(`${thread}/schedstat`, 'utf8')
        .split(' ')
        .map(Number);
      this.#threads.set(thread, { usedNs, waitedNs });
    } catch {
      // It ended meanwhile.
    }
  }
}

function threadsOf(pid: number): readonly string[] {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).map(thread => `${tasks}/${thread}`);
}

export interface Afterwards {
  /** Milliseconds from the call to the end of the last sample with work in it. */
  readonly idleMs: number;
  /** CPU milliseconds within them. */
  readonly cpuMs: number;
}

/**
 * CPU milliseconds of the longest piece of work that processes do while nobody asks: they answer
 * probes and have timers.
 */
export async function longestIdleWork(meter: CpuMeter, forMs: number): Promise<number> {
  const untilMs = performance.now() + forMs;
  const work = new PieceOfWork(meter, 0);
  let longestMs = 0;
  while (performance.now() < untilMs) longestMs = Math.max(longestMs, await work.next());
  return longestMs;
}

/** Samples with work, without so long a pause between them, are one piece. */
const PAUSE_MS = 20;

class PieceOfWork {
  #last: { readonly wantedMs: number };
  #lastMs = performance.now();
  #workedAtMs = this.#lastMs;

  constructor(
    private readonly meter: CpuMeter,
    /** CPU milliseconds so far. */
    private soFarMs: number,
  ) {
    this.#last = meter.read();
  }

  /** Takes one sample. @returns its CPU milliseconds so far; 0: the sample has no work in it */
  async next(): Promise<number> {
    await new Promise(resolve => setTimeout(resolve, SAMPLE_MS));
    const [nowMs, now] = [performance.now(), this.meter.read()];
    const [wantedMs, tookMs] = [now.wantedMs - this.#last.wantedMs, nowMs - this.#lastMs];
    [this.#lastMs, this.#last] = [nowMs, now];
    if (wantedMs <= AT_WORK * tookMs) return 0;
    if (nowMs - this.#workedAtMs > PAUSE_MS) this.soFarMs = 0;
    this.#workedAtMs = nowMs;
    return (this.soFarMs += wantedMs);
  }
}

/**
 * How long processes go on working from now. Seen from outside, by their CPU time: the
 * same yardstick for any server whose device is the CPU. Resolution 5 ms, and a tick.
 * @param idleWorkMs a piece of work that begins later and is not longer is not that of a request
 */
export async function workAfter(
  meter: CpuMeter,
  limitMs: number,
  idleWorkMs: number,
): Promise<Afterwards> {
  const startMs = performance.now();
  const start = meter.read();
  // What runs now is the request's.
  const work = new PieceOfWork(meter, Infinity);
  let after: Afterwards = { idleMs: 0, cpuMs: 0 };
  for (let nowMs = 0; nowMs < limitMs && nowMs - after.idleMs < QUIET_MS;) {
    const piece = await work.next();
    nowMs = performance.now() - startMs;
    if (piece > idleWorkMs) after = { idleMs: nowMs, cpuMs: meter.ms - start.usedMs };
  }
  return after;
}

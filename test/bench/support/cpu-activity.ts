import { readdirSync, readFileSync } from 'node:fs';

const SAMPLE_MS = 5;
/** A process that uses more than this share of a core is at work. */
const AT_WORK = 0.2;
/** So long without work is the end of it: a model waits for nothing so long in the middle. */
const QUIET_MS = 250;
const NS_PER_MS = 1e6;

/** CPU milliseconds of a process and its threads since their start, exact to the nanosecond. */
export function threadsCpuMs(pid: number): number {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`))
    try {
      ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      // A thread that ended meanwhile.
    }
  return ns / NS_PER_MS;
}

export interface Afterwards {
  /** Milliseconds from the call to the end of the last sample with work in it. */
  readonly idleMs: number;
  /** CPU milliseconds within them. */
  readonly cpuMs: number;
}

/**
 * How long processes go on working from now. Seen from outside, by their CPU time: the
 * same yardstick for any server whose device is the CPU. Resolution 5 ms.
 */
export async function workAfter(pids: readonly number[], limitMs: number): Promise<Afterwards> {
  const cpuMs = (): number => pids.reduce((sum, pid) => sum + threadsCpuMs(pid), 0);
  const startMs = performance.now();
  const startCpuMs = cpuMs();
  let [lastMs, lastCpuMs] = [startMs, startCpuMs];
  let after: Afterwards = { idleMs: 0, cpuMs: 0 };
  while (lastMs - startMs < limitMs && lastMs - startMs - after.idleMs < QUIET_MS) {
    await new Promise(resolve => setTimeout(resolve, SAMPLE_MS));
    const [nowMs, nowCpuMs] = [performance.now(), cpuMs()];
    if (nowCpuMs - lastCpuMs > AT_WORK * (nowMs - lastMs))
      after = { idleMs: nowMs - startMs, cpuMs: nowCpuMs - startCpuMs };
    [lastMs, lastCpuMs] = [nowMs, nowCpuMs];
  }
  return after;
}

import { getHeapStatistics } from 'node:v8';
import { collectGarbage } from './idle-gc.js';

const LOOK_MS = 10_000;
/** CPU time between two looks of a process that does no more than keep its timers: 0.5 % of a core. */
const RESTING_MS = 50;
/** Growth of the heap that is worth a full collection, which takes 0.1 to 0.3 s of CPU. */
const WORTH_BYTES = 32 * 2 ** 20;

/**
 * Gives memory back while the process is at rest: after its start, and after work that made the heap grow. V8 by itself
 * keeps what it once had until it has to collect, and a process at rest never has to: 75 of 225 MiB of a gateway that
 * has just started.
 */
export class RestGc {
  #cpuMs = 0;
  #releasedBytes = 0;

  constructor(private readonly heap: ReleasableHeap = V8_HEAP) {}

  start(): void {
    setInterval(() => this.look(), LOOK_MS).unref();
  }

  /** Called at intervals. */
  look(): void {
    const cpuMs = this.heap.cpuMs();
    const rests = cpuMs - this.#cpuMs < RESTING_MS;
    this.#cpuMs = cpuMs;
    if (!rests || this.heap.bytes() - this.#releasedBytes < WORTH_BYTES) return;
    this.heap.release();
    this.#releasedBytes = this.heap.bytes();
    this.#cpuMs = this.heap.cpuMs();
  }
}

/** The heap of a process, and what the process has used of the CPU since its start. */
export interface ReleasableHeap {
  cpuMs(): number;
  bytes(): number;
  release(): void;
}

const V8_HEAP: ReleasableHeap = {
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  bytes: () => getHeapStatistics().total_physical_size,
  // Others keep the pages that they free for objects to come.
  release: () => collectGarbage({ type: 'major', flavor: 'last-resort' }),
};

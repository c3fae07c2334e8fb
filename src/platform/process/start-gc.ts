import { collectGarbage } from './idle-gc.js';

const LOOK_MS = 10_000;
/** The first minute: whoever has worked since the start keeps what it has. */
const MOST_LOOKS = 6;
/** CPU time between two looks of a process that does no more than keep its timers: 0.5 % of a core. */
const RESTING_MS = 50;

/**
 * Gives back what the start left behind, once the process rests: V8 keeps it until it has to collect, and a process at
 * rest never has to (75 of 225 MiB of a gateway). Once and not after work: a full collection drops compiled code too,
 * and the requests after it cost twice the CPU. After work V8 gives back nearly as much by itself.
 */
export class StartGc {
  #cpuMs = 0;
  #looks = 0;

  constructor(private readonly heap: ReleasableHeap = V8_HEAP) {}

  start(): void {
    const timer = setInterval(() => {
      if (!this.look()) clearInterval(timer);
    }, LOOK_MS).unref();
  }

  /** Called at intervals. @returns false: this was the last one */
  look(): boolean {
    const cpuMs = this.heap.cpuMs();
    const rests = cpuMs - this.#cpuMs < RESTING_MS;
    this.#cpuMs = cpuMs;
    this.#looks += 1;
    if (!rests) return this.#looks < MOST_LOOKS;
    this.heap.release();
    return false;
  }
}

/** The heap of a process, and what the process has used of the CPU since its start. */
export interface ReleasableHeap {
  cpuMs(): number;
  release(): void;
}

const V8_HEAP: ReleasableHeap = {
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  // Others keep the pages that they free for objects to come.
  release: () => collectGarbage({ type: 'major', flavor: 'last-resort' }),
};

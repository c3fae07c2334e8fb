import { processTree } from '../../support/process-tree.js';
import { processCpuMs } from './process-cpu.js';
import { peakRssMib } from './process-memory.js';

const INTERVAL_MS = 500;

interface Used {
  readonly cpuMs: number;
  readonly peakMib: number;
}

/**
 * What processes use that come and go meanwhile: each is looked at now and then, the
 * last look counts.
 */
export class ProcessUsage {
  readonly #last = new Map<number, Used>();
  readonly #timer = setInterval(() => this.#look(), INTERVAL_MS);
  readonly #beforeMs: number;

  /** @param roots these and all that they start */
  constructor(private readonly roots: () => readonly (number | undefined)[]) {
    this.#look();
    this.#beforeMs = this.#sum('cpuMs');
  }

  /** CPU time since the beginning; the peaks of all processes together, each its own. */
  end(): Used {
    clearInterval(this.#timer);
    this.#look();
    return { cpuMs: this.#sum('cpuMs') - this.#beforeMs, peakMib: this.#sum('peakMib') };
  }

  #look(): void {
    for (const { pid } of this.roots().flatMap(root =>
      root === undefined ? [] : processTree(root),
    )) {
      const used = { cpuMs: processCpuMs(pid), peakMib: peakRssMib(pid) };
      // A process that has just ended shows none.
      if (used.peakMib > 0) this.#last.set(pid, used);
    }
  }

  #sum(figure: keyof Used): number {
    return [...this.#last.values()].reduce((sum, used) => sum + used[figure], 0);
  }
}

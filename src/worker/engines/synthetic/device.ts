import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { type EngineInfo } from '@switchyard/engine-api/engine.js';
import {
  type FaultAction,
  type ScriptedFault,
  type SyntheticOptions,
} from './options.js';

/**
 * A Node timer fires up to about 1.1 ms late: it is set to fire before the instant, and
 * turns of the loop fill the rest.
 */
const TIMER_SLACK_MS = 1.2;

/**
 * Waits until the monotonic instant, late by one turn of the loop at most. A plain timer
 * is late by half a millisecond on average: 3 % of a 20 ms engine call, as much as the
 * benches want to measure. I/O goes on in the meantime.
 */
export async function sleepUntil(instantMs: number): Promise<void> {
  const timerMs = Math.floor(instantMs - performance.now() - TIMER_SLACK_MS);
  if (timerMs >= 1) await sleep(timerMs);
  while (performance.now() < instantMs) await nextTurn();
}

/** What the device has done; proofs of batching count calls, not answers. */
interface DeviceCounters {
  readonly calls: number;
  readonly items: number;
  readonly largestGroup: number;
}

interface DeviceItem {
  readonly signal: AbortSignal;
  /** What scripted faults look at. */
  readonly content: Uint8Array | string;
}

interface DeviceCall {
  /** The fault that strikes each item, in order. */
  readonly faults: readonly (ScriptedFault | undefined)[];
}

/**
 * Pretends to be an accelerator: a call costs a + b·n milliseconds, whoever is still
 * interested in its answers.
 */
export class SyntheticDevice {
  readonly #counters = { calls: 0, items: 0, largestGroup: 0 };
  readonly #randomness = mulberry32(1);

  constructor(
    private readonly options: SyntheticOptions,
    /** SIGKILL leaves no chance to clean up, as a native crash does. */
    private readonly crash: () => void = () => process.kill(process.pid, 'SIGKILL'),
  ) {}

  get counters(): DeviceCounters {
    return { ...this.#counters };
  }

  /**
   * One engine call. `onStep` is told after each part, with the share of the work
   * that is done.
   */
  async run(
    items: readonly DeviceItem[],
    onStep: (done: number) => void = () => undefined,
  ): Promise<DeviceCall> {
    this.#count(items.length);
    const faults = items.map(item => this.#faultOf(item));
    const strikes = (action: FaultAction): boolean =>
      faults.some(fault => fault?.action === action);
    if (strikes('crash')) this.crash();
    if (strikes('hang')) await new Promise<never>(() => undefined);
    await this.#work(items, this.#costMs(items.length, faults), onStep);
    return { faults };
  }

  async #work(
    items: readonly DeviceItem[],
    costMs: number,
    onStep: (done: number) => void,
  ): Promise<void> {
    const startMs = performance.now();
    const { steps } = this.options;
    for (let step = 1; step <= steps; step++) {
      if (items.every(item => item.signal.aborted)) return;
      if (costMs > 0) await sleepUntil(startMs + (costMs * step) / steps);
      onStep(step / steps);
    }
  }

  #costMs(size: number, faults: DeviceCall['faults']): number {
    const { baseMs, perItemMs, jitter } = this.options;
    const slowMs = faults.reduce(
      (sum, fault) => sum + (fault?.action === 'slow' ? fault.ms : 0),
      0,
    );
    const factor = jitter === 0 ? 1 : 1 + jitter * (2 * this.#randomness() - 1);
    return (baseMs + perItemMs * size) * factor + slowMs;
  }

  #faultOf(item: DeviceItem): ScriptedFault | undefined {
    if (this.options.faults.length === 0) return undefined;
    const content =
      typeof item.content === 'string' ? item.content : viewOf(item.content);
    return this.options.faults.find(({ marker }) => content.includes(marker));
  }

  #count(size: number): void {
    this.#counters.calls++;
    this.#counters.items += size;
    this.#counters.largestGroup = Math.max(this.#counters.largestGroup, size);
  }
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A small public-domain generator: 0..1, the same sequence for the same seed. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Abilities = Pick<EngineInfo, 'capabilities'> & Partial<EngineInfo>;

/**
 * What the synthetic engines say of themselves. `abilities` are those of one
 * kind of engine.
 */
export const syntheticInfo = (
  options: SyntheticOptions,
  abilities: Abilities,
): EngineInfo => ({
  engine: 'synthetic',
  device: options.device,
  revision: 'synthetic 1',
  maxBatch: options.maxBatch,
  maxConcurrent: options.maxConcurrent,
  streams: 0,
  languages: [],
  ...abilities,
});

/**
 * The life of an engine that works in groups on a pretended device: there is
 * nothing to load.
 */
export abstract class SyntheticEngine {
  readonly info: EngineInfo;
  protected readonly device: SyntheticDevice;

  constructor(
    protected readonly options: SyntheticOptions,
    abilities: Abilities,
    crash?: () => void,
  ) {
    this.device = new SyntheticDevice(options, crash);
    this.info = syntheticInfo(options, abilities);
  }

  get counters(): DeviceCounters {
    return this.device.counters;
  }

  load(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

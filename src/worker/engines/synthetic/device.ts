import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import {
  cancelledError,
  type EngineInfo,
  failed,
  type ItemOutcome,
  succeeded,
} from '@switchyard/engine-api/engine.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { NO_ERROR, type ScriptedFault, type SyntheticOptions } from './options.js';

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

interface DeviceItem {
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** No chance to clean up, as in a native crash. */
const crash = (): unknown => process.kill(process.pid, 'SIGKILL');

const scriptedFailure = ({ marker }: ScriptedFault): DomainError =>
  new DomainError('engine_failed', `Scripted fault '${marker}'.`);

/** Carries out a fault: throws, or ends this process. */
export function strike(fault: ScriptedFault | undefined): void {
  if (fault?.action === 'fail') throw scriptedFailure(fault);
  if (fault?.action === 'crash') crash();
}

/**
 * Pretends to be an accelerator: a call costs a + b·n milliseconds, whoever is still
 * interested in its answers.
 */
export function syntheticDevice(options: SyntheticOptions, onCrash = crash) {
  const randomness = mulberry32(1);
  /**
   * One engine call.
   * @param contentOf what scripted faults look at
   * @param onStep told after each part, with the share of the work that is done
   * @returns why an item has no value; undefined: it has one. In order
   */
  return async <Item extends DeviceItem>(
    items: readonly Item[],
    contentOf: (item: Item) => Uint8Array | string,
    onStep: (done: number) => void = () => undefined,
  ): Promise<(Error | undefined)[]> => {
    const faults = items.map(item => faultOf(contentOf(item), options));
    if (!areGone(items)) {
      const strikes = (action: ScriptedFault['action']): boolean =>
        faults.some(fault => fault?.action === action);
      if (strikes('crash')) onCrash();
      if (strikes('hang')) await new Promise<never>(() => undefined);
      const spread = options.jitter === 0 ? 0 : options.jitter * (2 * randomness() - 1);
      await work(items, costMs(faults, options, 1 + spread), options.steps, onStep);
    }
    return items.map(({ signal, requestId }, at) => {
      if (signal.aborted) return cancelledError(requestId);
      const fault = faults[at];
      return fault?.action === 'fail' ? scriptedFailure(fault) : undefined;
    });
  };
}

async function work(
  items: readonly DeviceItem[],
  totalMs: number,
  steps: number,
  onStep: (done: number) => void,
): Promise<void> {
  const startMs = performance.now();
  for (let step = 1; step <= steps; step++) {
    if (areGone(items)) return;
    if (totalMs > 0) await sleepUntil(startMs + (totalMs * step) / steps);
    onStep(step / steps);
  }
}

function costMs(
  faults: readonly (ScriptedFault | undefined)[],
  { baseMs, perItemMs }: SyntheticOptions,
  factor: number,
): number {
  const slowMs = faults.reduce((sum, fault) => sum + (fault?.action === 'slow' ? fault.ms : 0), 0);
  return (baseMs + perItemMs * faults.length) * factor + slowMs;
}

function faultOf(
  content: Uint8Array | string,
  { faults }: SyntheticOptions,
): ScriptedFault | undefined {
  if (faults.length === 0) return undefined;
  const text =
    typeof content === 'string'
      ? content
      : Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  return faults.find(({ marker }) => text.includes(marker));
}

const areGone = (items: readonly DeviceItem[]): boolean =>
  items.every(({ signal }) => signal.aborted);

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

/** The life of an engine on a pretended device: what it loads is time. */
export abstract class SyntheticEngine {
  readonly info: EngineInfo;
  protected readonly device: ReturnType<typeof syntheticDevice>;

  /** @param abilities of this kind of engine */
  constructor(
    protected readonly options: SyntheticOptions,
    abilities: Pick<EngineInfo, 'capabilities'> & Partial<EngineInfo>,
  ) {
    const { device, maxBatch, maxConcurrent } = options;
    this.device = syntheticDevice(options);
    this.info = {
      engine: 'synthetic',
      device,
      revision: 'synthetic 1',
      maxBatch,
      maxConcurrent,
      streams: 0,
      languages: [],
      ...abilities,
    };
  }

  async load(): Promise<void> {
    const { loadMs, loadError } = this.options;
    if (loadMs > 0) await sleep(loadMs);
    if (loadError !== NO_ERROR) throw new Error(loadError);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** @param errors of an engine call, in order. @param valueOf may throw */
export const outcomesOf = <Value>(
  errors: readonly (Error | undefined)[],
  valueOf: (at: number) => Value,
): ItemOutcome<Value>[] =>
  errors.map((error, at) => {
    if (error) return failed(error);
    try {
      return succeeded(valueOf(at));
    } catch (problem) {
      return failed(problem);
    }
  });

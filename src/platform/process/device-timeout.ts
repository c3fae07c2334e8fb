import { type DeviceProgress, leftMs, WAITING } from '../../core/request/device-progress.js';
import { ActiveTimeout } from './active-timeout.js';

/** Shortest pause between two questions of a `DeviceTimeout`. */
const ASK_PAUSE_MS = 10;

/**
 * The inference limit of one call (D-07, D-49): when it could be over, asks how long the
 * device has computed the call, and waits for what is left.
 */
export class DeviceTimeout {
  #timer: ActiveTimeout | undefined;
  #stopped = false;

  /**
   * @param options `ask` rejects while there is no answer, which is no reason to end the call
   */
  constructor(
    private readonly options: {
      readonly limitMs: number;
      readonly ask: () => Promise<DeviceProgress | undefined>;
      readonly onOverdue: () => void;
    },
  ) {
    this.#wait(options.limitMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.stop();
  }

  #wait(ms: number): void {
    this.#timer = new ActiveTimeout(ms, () => void this.#look());
    this.#timer.restart();
  }

  async #look(): Promise<void> {
    const { limitMs, ask, onOverdue } = this.options;
    const progress = await ask().catch(() => WAITING);
    if (this.#stopped) return;
    const ms = leftMs(limitMs, progress);
    if (ms > 0) this.#wait(Math.max(ms, ASK_PAUSE_MS));
    else onOverdue();
  }
}

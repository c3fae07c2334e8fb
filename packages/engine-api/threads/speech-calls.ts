import { cancelledError, failed, type ItemOutcome, succeeded } from '../engine.js';
import { type SynthesizeItem } from '../speech-synthesizer.js';
import { CancelFlag } from './thread-protocol.js';

export type Spoken = ItemOutcome<{ readonly durationS: number }>;

/**
 * Lets a thread speak one item: told where to look for a cancel and whom to hand samples.
 * @returns samples spoken
 */
type Speak = (
  cancel: SharedArrayBuffer,
  onNotice: (samples: Int16Array) => void,
) => Promise<number>;

/**
 * Calls to a thread that speaks: each is stopped by its own signal, by a consumer that
 * fails, or by the engine's end.
 */
export class SpeechCalls {
  readonly #cancels = new Set<CancelFlag>();

  /** Whatever goes wrong is the outcome of this item (D-05). @param sampleRate in Hz */
  async outcome(item: SynthesizeItem, sampleRate: number, speak: Speak): Promise<Spoken> {
    try {
      item.signal.throwIfAborted();
      return succeeded({ durationS: (await this.#speak(item, speak)) / sampleRate });
    } catch (error) {
      return failed(item.signal.aborted ? cancelledError(item.requestId) : error);
    }
  }

  cancelAll(): void {
    for (const flag of this.#cancels) flag.raise();
  }

  async #speak(item: SynthesizeItem, speak: Speak): Promise<number> {
    const flag = new CancelFlag();
    const raise = (): void => flag.raise();
    item.signal.addEventListener('abort', raise, { once: true });
    this.#cancels.add(flag);
    let consumerProblem: unknown;
    const onNotice = (samples: Int16Array): void => {
      if (flag.raised) return;
      try {
        item.emit(samples);
      } catch (error) {
        consumerProblem = error;
        flag.raise();
      }
    };
    try {
      const samples = await speak(flag.memory, onNotice);
      if (consumerProblem) throw consumerProblem as Error;
      if (flag.raised) throw cancelledError(item.requestId);
      return samples;
    } finally {
      this.#cancels.delete(flag);
      item.signal.removeEventListener('abort', raise);
    }
  }
}

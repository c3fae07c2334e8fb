import { cancelledError, failed, type ItemOutcome, succeeded } from '../engine.js';
import { type SynthesizeItem } from '../speech-synthesizer.js';
import { type CancelFlag, CancelFlags } from './shared-memory.js';

export type Spoken = ItemOutcome<{ readonly durationS: number }>;

/**
 * Lets a thread speak one item: told where to look for a cancel and whom to hand samples.
 * @returns samples spoken
 */
type Speak = (
  cancel: SharedArrayBuffer,
  onNotice: (samples: Int16Array) => void,
) => Promise<number>;

/** Calls to a thread that speaks; a consumer that fails stops its own. */
export class SpeechCalls extends CancelFlags {
  /** Whatever goes wrong is the outcome of this item (D-05). @param sampleRate in Hz */
  async outcome(item: SynthesizeItem, sampleRate: number, speak: Speak): Promise<Spoken> {
    try {
      item.signal.throwIfAborted();
      const samples = await this.during(item.signal, flag => spoken(item, flag, speak));
      return succeeded({ durationS: samples / sampleRate });
    } catch (error) {
      return failed(item.signal.aborted ? cancelledError(item.requestId) : error);
    }
  }
}

async function spoken(
  item: SynthesizeItem,
  flag: CancelFlag,
  speak: Speak,
): Promise<number> {
  let consumerProblem: unknown;
  const samples = await speak(flag.memory, piece => {
    if (flag.raised) return;
    try {
      item.emit(piece);
    } catch (error) {
      consumerProblem = error;
      flag.raise();
    }
  });
  if (consumerProblem) throw consumerProblem as Error;
  if (flag.raised) throw cancelledError(item.requestId);
  return samples;
}

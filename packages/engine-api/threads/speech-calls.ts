import { cancelledError, failed, type ItemOutcome, succeeded } from '../engine.js';
import { type SynthesizeItem } from '../speech-synthesizer.js';
import { type CancelFlags } from './shared-memory.js';

/**
 * Lets a thread speak one item. Whatever goes wrong is the outcome of this item (D-05); a
 * consumer that fails stops its own.
 * @param sampleRate in Hz
 * @param speak told where to look for a cancel and whom to hand samples; returns how many
 *   were spoken
 */
export async function speechOutcome(
  item: SynthesizeItem,
  sampleRate: number,
  cancels: CancelFlags,
  speak: (cancel: SharedArrayBuffer, onNotice: (samples: Int16Array) => void) => Promise<number>,
): Promise<ItemOutcome<{ readonly durationS: number }>> {
  try {
    item.signal.throwIfAborted();
    const samples = await cancels.during(item.signal, async flag => {
      let consumerProblem: unknown;
      const spoken = await speak(flag.memory, piece => {
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
      return spoken;
    });
    return succeeded({ durationS: samples / sampleRate });
  } catch (error) {
    return failed(item.signal.aborted ? cancelledError(item.requestId) : error);
  }
}

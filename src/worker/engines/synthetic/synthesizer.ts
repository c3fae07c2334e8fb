import { DomainError } from '../../../core/errors/domain-error.js';
import {
  cancelledError,
  failed,
  type ItemOutcome,
  succeeded,
} from '@switchyard/engine-api/engine.js';
import {
  checkSpeechItem,
  nothingToSpeak,
  type SpeechSynthesizer,
  type SynthesizeItem,
} from '@switchyard/engine-api/speech-synthesizer.js';
import { SyntheticEngine } from './device.js';
import { type ScriptedFault, type SyntheticOptions } from './options.js';

type Spoken = ItemOutcome<{ readonly durationS: number }>;

const RATE = 16_000;
/** One second of a 440 Hz tone, repeated for as long as the text would take to say. */
const TONE = Int16Array.from({ length: RATE }, (_, i) =>
  Math.round(8000 * Math.sin((2 * Math.PI * 440 * i) / RATE)),
);

/** A voice with no model: a tone as long as the text, with scripted cost and faults. */
export class SyntheticSynthesizer extends SyntheticEngine implements SpeechSynthesizer {
  readonly kind = 'tts';
  readonly sampleRate = RATE;
  readonly voices = [
    { id: 'synthetic', name: 'Synthetic tone', language: '', gender: '' },
  ] as const;

  constructor(options: SyntheticOptions, crash?: () => void) {
    super(options, { capabilities: ['speech', 'speed'] }, crash);
  }

  async synthesize(batch: readonly SynthesizeItem[]): Promise<readonly Spoken[]> {
    const tones = batch.map(item => new Tone(item, this.options.charactersPerSecond));
    if (batch.every(({ signal }) => signal.aborted))
      return tones.map(tone => tone.outcome(undefined));
    const items = batch.map(({ signal, text }) => ({ signal, content: text }));
    const { faults } = await this.device.run(items, done =>
      tones.forEach(tone => tone.emitUpTo(done)),
    );
    return tones.map((tone, i) => tone.outcome(faults[i]));
  }
}

/** The audio of one item, let out part by part. */
class Tone {
  readonly #total: number;
  #problem: Error | undefined;
  #emitted = 0;

  constructor(
    private readonly item: SynthesizeItem,
    charactersPerSecond: number,
  ) {
    this.#total = Math.ceil((RATE * item.text.length) / charactersPerSecond / item.speed);
    this.#problem = problemOf(item);
  }

  emitUpTo(done: number): void {
    const until = Math.round(this.#total * done);
    try {
      while (!this.#problem && !this.item.signal.aborted && this.#emitted < until) {
        const samples = TONE.slice(0, Math.min(RATE, until - this.#emitted));
        this.#emitted += samples.length;
        this.item.emit(samples);
      }
    } catch (error) {
      // A consumer that fails takes its own item down, not the group.
      this.#problem = error instanceof Error ? error : new Error(String(error));
    }
  }

  outcome(fault: ScriptedFault | undefined): Spoken {
    if (this.item.signal.aborted) return failed(cancelledError(this.item.requestId));
    if (this.#problem) return failed(this.#problem);
    if (fault?.action === 'fail')
      return failed(
        new DomainError('engine_failed', `Scripted fault '${fault.marker}'.`),
      );
    return succeeded({ durationS: this.#total / RATE });
  }
}

function problemOf(item: SynthesizeItem): Error | undefined {
  try {
    checkSpeechItem(item, ['synthetic']);
  } catch (error) {
    return error as Error;
  }
  return item.text.trim() === '' ? nothingToSpeak() : undefined;
}

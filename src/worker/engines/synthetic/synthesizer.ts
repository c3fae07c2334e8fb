import { type ItemOutcome } from '@switchyard/engine-api/engine.js';
import {
  checkSpeechItem,
  nothingToSpeak,
  type SpeechSynthesizer,
  type SynthesizeItem,
} from '@switchyard/engine-api/speech-synthesizer.js';
import { outcomesOf, SyntheticEngine } from './device.js';
import { type SyntheticOptions } from './options.js';

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

  constructor(options: SyntheticOptions) {
    super(options, { capabilities: ['speech', 'speed'] });
  }

  async synthesize(
    batch: readonly SynthesizeItem[],
  ): Promise<readonly ItemOutcome<{ readonly durationS: number }>[]> {
    const tones = batch.map(item => new Tone(item, this.options.charactersPerSecond));
    const errors = await this.device.run(
      batch,
      ({ text }) => text,
      done => tones.forEach(tone => tone.emitUpTo(done)),
    );
    return outcomesOf(errors, at => ({ durationS: tones[at]!.end() }));
  }
}

/** The audio of one item, let out part by part. */
class Tone {
  readonly #total: number;
  #problem: unknown;
  #emitted = 0;

  constructor(
    private readonly item: SynthesizeItem,
    charactersPerSecond: number,
  ) {
    const { text, speed } = item;
    this.#total = Math.ceil((RATE * text.length) / charactersPerSecond / speed);
    this.#attempt(() => {
      checkSpeechItem(item, ['synthetic']);
      if (text.trim() === '') throw nothingToSpeak();
    });
  }

  emitUpTo(done: number): void {
    const until = Math.round(this.#total * done);
    this.#attempt(() => {
      while (!this.#problem && !this.item.signal.aborted && this.#emitted < until) {
        const samples = TONE.slice(0, Math.min(RATE, until - this.#emitted));
        this.#emitted += samples.length;
        this.item.emit(samples);
      }
    });
  }

  /** Its length in seconds. @throws what was wrong with it, or with its consumer */
  end(): number {
    if (this.#problem) throw this.#problem as Error;
    return this.#total / RATE;
  }

  /** A consumer that fails takes its own item down, not the group. */
  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#problem = error;
    }
  }
}

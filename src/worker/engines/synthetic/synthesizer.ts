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
    const tones = batch.map(item => toneOf(item, this.options.charactersPerSecond));
    const errors = await this.device(
      batch,
      ({ text }) => text,
      done => tones.forEach(tone => tone.emitUpTo(done)),
    );
    return outcomesOf(errors, at => ({ durationS: tones[at]!.end() }));
  }
}

/** The audio of one item, made part by part. */
function toneOf(item: SynthesizeItem, charactersPerSecond: number) {
  const { text, speed, signal } = item;
  const total = Math.ceil((RATE * text.length) / charactersPerSecond / speed);
  let problem: unknown;
  let emitted = 0;
  /** A consumer that throws fails its own item, not the group. */
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      problem = error;
    }
  };
  attempt(() => {
    checkSpeechItem(item, ['synthetic']);
    if (text.trim() === '') throw nothingToSpeak();
  });
  return {
    emitUpTo: (done: number): void => {
      const until = Math.round(total * done);
      attempt(() => {
        while (!problem && !signal.aborted && emitted < until) {
          const samples = TONE.slice(0, Math.min(RATE, until - emitted));
          emitted += samples.length;
          item.emit(samples);
        }
      });
    },
    /** Its length in seconds. @throws what was wrong with it, or with its consumer */
    end: (): number => {
      if (problem) throw problem as Error;
      return total / RATE;
    },
  };
}

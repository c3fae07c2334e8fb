import { EngineError, invalidValue } from './coded-error.js';
import { type EngineBase, type ItemOutcome } from './engine.js';

/**
 * What every voice refuses.
 * @returns the voice that is asked for.
 * @throws EngineError `voice_not_found`, `invalid_value`
 */
export function checkSpeechItem<Voice extends string>(
  item: SynthesizeItem,
  voices: readonly Voice[],
): Voice {
  const { speed } = item;
  const voice = voices.find(id => id === item.voice);
  if (voice === undefined) {
    const message = `No voice '${item.voice}'; voices: ${voices.join(', ')}`;
    throw new EngineError('voice_not_found', message, { param: 'voice' });
  }
  if (!(speed >= 0.25 && speed <= 4))
    throw invalidValue(`speed is ${speed}; allowed: 0.25 to 4`, 'speed');
  return voice;
}

/**
 * For a text of which nothing would be heard. `voice` says which voices are meant, such
 * as "an English voice".
 */
export const nothingToSpeak = (voice?: string): EngineError =>
  invalidValue(`input has nothing ${voice ? `that ${voice} can speak` : 'to speak'}`, 'input');

export interface SynthesizeItem {
  readonly requestId: string;
  /** W3C Trace Context, for engines that ask another server. */
  readonly traceparent?: string | undefined;
  readonly text: string;
  readonly voice: string;
  /** 0.25..4 */
  readonly speed: number;
  readonly signal: AbortSignal;
  /** Receives mono s16 at `sampleRate` as it is made, in order. */
  emit(samples: Int16Array): void;
}

/**
 * Synthesis. One engine call for the group; audio leaves through each item's `emit`,
 * outcomes tell seconds made.
 */
export interface SpeechSynthesizer extends EngineBase {
  readonly kind: 'tts';
  readonly sampleRate: number;
  readonly voices: readonly {
    readonly id: string;
    readonly name: string;
    readonly language: string;
    readonly gender: 'female' | 'male' | '';
  }[];
  /**
   * The parts of a text that are spoken one after the other: joined, their samples are those
   * of the whole. Each becomes an item of its own where the device takes one at a time, so
   * that others have their turns in between. Empty: nothing would be heard. Absent: a text
   * is spoken whole.
   */
  sentencesOf?(text: string): readonly string[];
  synthesize(
    batch: readonly SynthesizeItem[],
  ): Promise<readonly ItemOutcome<{ readonly durationS: number }>[]>;
}

import { DomainError } from '../../core/shared/domain-error.js';
import { type SynthesizeItem } from './engine.js';

/** What every voice refuses. @returns the voice that is asked for. @throws DomainError `voice_not_found`, `invalid_value` */
export function checkSpeechItem<Voice extends string>(item: SynthesizeItem, voices: readonly Voice[]): Voice {
  const { speed } = item;
  const voice = voices.find(id => id === item.voice);
  if (voice === undefined) {
    const message = `No voice '${item.voice}'; voices: ${voices.join(', ')}`;
    throw new DomainError('voice_not_found', message, { param: 'voice' });
  }
  if (!(speed >= 0.25 && speed <= 4)) {
    throw new DomainError('invalid_value', `speed is ${speed}; allowed: 0.25 to 4`, { param: 'speed' });
  }
  return voice;
}

/** For a text of which nothing would be heard. `voice` says which voices are meant, such as "an English voice". */
export const nothingToSpeak = (voice?: string): DomainError =>
  new DomainError('invalid_value', `input has nothing ${voice ? `that ${voice} can speak` : 'to speak'}`, {
    param: 'input',
  });

import { type KnownSpeaker } from '../../contracts/formats/transcript.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { type KnownVoice } from '../engines/engine.js';
import { decodeAudio } from './decode.js';

const PARAM = 'known_speaker_references';
const SHORTEST_S = 2;
const LONGEST_S = 10;
/** Decoded at most: the exact length of what is a little too long helps its sender. */
const DECODED_S = 30;
/** Encoders pad to whole frames: ten seconds of speech are 10.03 s of mp3. */
const SLACK_S = 0.1;

/**
 * The voices a caller can name, as samples; one after the other, within the item's own preparation place.
 * @throws DomainError with `param` known_speaker_references: what cannot be decoded, or is not 2 to 10 seconds long; entries
 *   are counted from 0, as in the request. The abort's own error.
 */
export async function knownVoices(speakers: readonly KnownSpeaker[], signal: AbortSignal): Promise<KnownVoice[]> {
  const voices: KnownVoice[] = [];
  for (const [index, { name, reference }] of speakers.entries()) {
    const { samples, durationS } = await decodeAudio(reference, signal, DECODED_S).catch((error: unknown) => {
      throw aboutReference(error, index);
    });
    if (durationS < SHORTEST_S - SLACK_S || durationS > LONGEST_S + SLACK_S) {
      const length = `must be ${SHORTEST_S} to ${LONGEST_S} seconds long; got ${durationS.toFixed(2)}`;
      throw new DomainError('invalid_value', `\`${PARAM}[${index}]\` ${length}.`, { param: PARAM });
    }
    voices.push({ name, samples });
  }
  return voices;
}

/** Decoders speak of `file`. */
function aboutReference(error: unknown, index: number): unknown {
  if (!(error instanceof DomainError) || error.param !== 'file') return error;
  return new DomainError(error.code, `\`${PARAM}[${index}]\`: ${error.message}`, { param: PARAM, cause: error });
}

import { type KnownSpeaker } from '@switchyard/engine-api/transcript.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { MAX_REFERENCE_BYTES } from '../http/multipart-form.js';

const DATA_URL = /^data:[^,]{0,200};base64,/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const NAMES = 'known_speaker_names';
const REFERENCES = 'known_speaker_references';

interface KnownSpeakerFields {
  readonly known_speaker_names: readonly string[];
  readonly known_speaker_references: readonly string[];
}

/**
 * Names and their voices, decoded from data URLs. The worker, which decodes the audio,
 * checks its length.
 * @throws DomainError `invalid_value` for the first problem; entries are counted from 0,
 *   as in the request.
 */
export function knownSpeakers(fields: KnownSpeakerFields): readonly KnownSpeaker[] {
  const { known_speaker_names: names, known_speaker_references: references } = fields;
  if (names.length !== references.length) {
    const counts = `${names.length} and ${references.length}`;
    const message = `\`${NAMES}\` and \`${REFERENCES}\` must come in pairs; got ${counts}.`;
    throw invalid(names.length < references.length ? NAMES : REFERENCES, message);
  }
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index);
  if (twice >= 0)
    throw invalid(
      NAMES,
      `\`${NAMES}[${twice}]\` must differ from the others; got "${names[twice]}".`,
    );
  return names.map((name, index) => ({
    name,
    reference: referenceIn(references[index] ?? '', index),
  }));
}

/**
 * The audio in a data URL. Its media type is a claim of the sender: the content decides.
 */
function referenceIn(url: string, index: number): Buffer {
  const [prefix] = DATA_URL.exec(url) ?? [];
  if (prefix === undefined) {
    throw wrongReference(
      index,
      `must be a data URL such as data:audio/wav;base64,UklGR…; got "${url.slice(0, 40)}"`,
    );
  }
  const bytes = Math.floor(((url.length - prefix.length) * 3) / 4);
  if (bytes > MAX_REFERENCE_BYTES + 2) {
    throw wrongReference(
      index,
      `must hold at most ${MAX_REFERENCE_BYTES} bytes of audio; got about ${bytes}`,
    );
  }
  const base64 = url.slice(prefix.length);
  if (base64 === '' || base64.length % 4 !== 0 || !BASE64.test(base64)) {
    throw wrongReference(
      index,
      'must hold audio in base64, padded to a multiple of 4 characters',
    );
  }
  return Buffer.from(base64, 'base64');
}

const wrongReference = (index: number, rule: string): DomainError =>
  invalid(REFERENCES, `\`${REFERENCES}[${index}]\` ${rule}.`);

const invalid = (param: string, message: string): DomainError =>
  new DomainError('invalid_value', message, { param });

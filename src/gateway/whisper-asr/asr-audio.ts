import { streamedWavHeader } from '@switchyard/engine-api/audio/wav-header.js';
import { type DetectLanguageQueryDto } from '../../contracts/whisper-asr/detect-language.dto.js';
import { type FileRules } from '../audio/upload-reader.js';

const RATE = 16_000;

const RIFF = 'RIFF';

/**
 * Headerless 16 kHz mono s16le as a WAV file. What begins as a WAV file does stays
 * as it is.
 * @param mostSeconds the rest is read and dropped
 */
async function* rawPcmAsWav(
  source: AsyncIterable<Buffer>,
  mostSeconds = Infinity,
): AsyncGenerator<Buffer> {
  let left = mostSeconds * RATE * 2;
  let head: Buffer = Buffer.alloc(0);
  let begun = false;
  for await (const chunk of source) {
    const bytes = begun ? chunk : Buffer.concat([head, chunk]);
    if (!begun && bytes.length < RIFF.length) {
      head = bytes;
      continue;
    }
    if (!begun) yield* beginning(bytes);
    begun = true;
    if (left > 0) yield bytes.subarray(0, left);
    left -= bytes.length;
  }
  if (!begun && head.length > 0) yield Buffer.concat([streamedWavHeader(RATE), head]);
}

function* beginning(bytes: Buffer): Generator<Buffer> {
  if (bytes.toString('latin1', 0, RIFF.length) !== RIFF) yield streamedWavHeader(RATE);
}

/** How the audio of a request is received. @param mostSeconds of raw audio */
export const asrAudio = (
  { encode }: Pick<DetectLanguageQueryDto, 'encode'>,
  mostSeconds?: number,
): FileRules => ({
  part: 'audio_file',
  receive: encode ? undefined : source => rawPcmAsWav(source, mostSeconds),
});

import { type IOptions } from 'music-metadata';
import { wavChunks } from '../../contracts/formats/wav-chunks.js';
import { type SpooledUpload } from './upload-spool.js';

const FMT_BYTES = 16;

/**
 * Seconds by `fmt ` and `data` of a WAV file, out of its first bytes; undefined when
 * it is none, or the chunks are not there.
 */
function wavSeconds({ head, size }: SpooledUpload): number | undefined {
  let byteRate = 0;
  for (const { id, start, length } of wavChunks(head, size)) {
    if (id === 'data') return byteRate > 0 ? length / byteRate : undefined;
    if (id === 'fmt ' && start + FMT_BYTES <= head.length) byteRate = head.readUInt32LE(start + 8);
  }
  return undefined;
}

/**
 * Headers only (D-12): never scans the file for frames, never reads tags behind the audio
 * or cover pictures.
 */
const HEADERS_ONLY: IOptions = {
  duration: false,
  skipCovers: true,
  skipPostHeaders: true,
};
/**
 * 16 kbit/s, the low end of speech codecs: an unknown duration is guessed long, which
 * only lengthens the time limit (D-07).
 */
const GUESSED_BYTES_PER_S = 2000;
/**
 * 4 kbit/s: no audio is thinner, so a header that claims more seconds than this
 * allows is lying.
 */
const LEAST_BYTES_PER_S = 500;

/**
 * Seconds of audio of an upload, for the inference deadline. Costs microseconds for WAV
 * and well under a millisecond for most others. What is no audio at all gets a guess: the
 * worker, which decodes, answers `invalid_audio`.
 * @returns `known`: false when the headers do not say and it was estimated from the size
 */
export async function audioDuration(
  upload: SpooledUpload,
  filename: string,
): Promise<{ readonly seconds: number; readonly known: boolean }> {
  const seconds = wavSeconds(upload) ?? (await headerSeconds(upload, filename));
  if (seconds === undefined) return { seconds: upload.size / GUESSED_BYTES_PER_S, known: false };
  return { seconds: Math.min(seconds, upload.size / LEAST_BYTES_PER_S), known: true };
}

async function headerSeconds(upload: SpooledUpload, filename: string): Promise<number | undefined> {
  try {
    const { path, head, size } = upload;
    const { parseBuffer, parseFile } = await import('music-metadata');
    // An MP4's index may lie behind its audio, and is reached by one seek; the others
    // have their headers in front.
    const { format } =
      path !== undefined && isMp4(head)
        ? await parseFile(path, HEADERS_ONLY)
        : await parseBuffer(head, { size, path: filename }, HEADERS_ONLY);
    const { duration } = format;
    return duration !== undefined && Number.isFinite(duration) && duration > 0
      ? duration
      : undefined;
  } catch {
    // Not audio, or a header that was cut: the worker decides.
    return undefined;
  }
}

const isMp4 = (head: Buffer) => head.toString('latin1', 4, 8) === 'ftyp';

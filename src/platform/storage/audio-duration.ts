import { type IOptions, parseBuffer, parseFile } from 'music-metadata';
import { type SpooledUpload } from './spooled-upload.js';
import { readWavHeader } from './wav-duration.js';

export interface AudioDuration {
  readonly seconds: number;
  /** False when the headers do not tell and it was guessed from the size. */
  readonly known: boolean;
}

/** Headers only (D-12): never scans the file for frames, never reads tags behind the audio or cover pictures. */
const HEADERS_ONLY: IOptions = { duration: false, skipCovers: true, skipPostHeaders: true };
/** 16 kbit/s, the low end of speech codecs: an unknown duration is guessed long, which only lengthens the time limit (D-07). */
const GUESSED_BYTES_PER_S = 2000;
/** 4 kbit/s: no audio is thinner, so a header that claims more seconds than this allows is lying. */
const LEAST_BYTES_PER_S = 500;

/**
 * Seconds of audio of an upload, for the inference deadline. Costs microseconds for WAV and well under a millisecond for
 * most others. What is no audio at all gets a guess: the worker, which decodes, answers `invalid_audio`.
 */
export async function audioDuration(upload: SpooledUpload, filename: string): Promise<AudioDuration> {
  const seconds = wavSeconds(upload) ?? (await headerSeconds(upload, filename));
  if (seconds === undefined) return { seconds: upload.size / GUESSED_BYTES_PER_S, known: false };
  return { seconds: Math.min(seconds, upload.size / LEAST_BYTES_PER_S), known: true };
}

function wavSeconds(upload: SpooledUpload): number | undefined {
  const header = readWavHeader(upload.head, upload.size);
  return header && header.byteRate > 0 ? header.dataBytes / header.byteRate : undefined;
}

async function headerSeconds(upload: SpooledUpload, filename: string): Promise<number | undefined> {
  try {
    const { path, head, size } = upload;
    // An MP4's index may lie behind its audio, and is reached by one seek; the others have their headers in front.
    const { format } =
      path !== undefined && isMp4(head)
        ? await parseFile(path, HEADERS_ONLY)
        : await parseBuffer(head, { size, path: filename }, HEADERS_ONLY);
    const { duration } = format;
    return duration !== undefined && Number.isFinite(duration) && duration > 0 ? duration : undefined;
  } catch {
    // Not audio, or a header that was cut: the worker decides.
    return undefined;
  }
}

const isMp4 = (head: Buffer): boolean => head.toString('latin1', 4, 8) === 'ftyp';

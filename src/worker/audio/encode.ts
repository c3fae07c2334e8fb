import { setImmediate as nextTurn } from 'node:timers/promises';
import { bytesOf, SPEECH_RATE } from '@switchyard/engine-api/audio/pcm.js';
import { streamedWavHeader } from '@switchyard/engine-api/audio/wav-header.js';
import { type SpeechFormat } from '@switchyard/worker-protocol/speech-format.js';
import { abortError } from '../../core/errors/abort-error.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { startFfmpeg } from './ffmpeg-process.js';
import { Resampler } from './resampler.js';
import { WorkLine } from './work-line.js';

/**
 * 0.17 s at 24 kHz: well under a millisecond of filtering between two turns of
 * the event loop.
 */
const SLICE = 4096;

interface EncoderOptions {
  readonly format: SpeechFormat;
  /** Aborted: the encoder ends at once, and what it holds is lost. */
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: Buffer) => void;
}

/**
 * What one synthesis writes into: brought to 24 kHz and encoded in the order of arrival,
 * in slices, so that the engine's `emit` returns at once and the process goes on serving.
 * The backlog is bounded by the length of the text, by `openai-http` for an upstream, too.
 */
export function speechOutput({
  sampleRate,
  ...options
}: EncoderOptions & { readonly sampleRate: number }) {
  const encoder = openEncoder(options);
  const resampler = sampleRate === SPEECH_RATE ? undefined : new Resampler(sampleRate, SPEECH_RATE);
  const line = new WorkLine();
  const encode = async (samples: Int16Array): Promise<void> => {
    for (let at = 0; at < samples.length; at += SLICE) {
      const slice = samples.subarray(at, at + SLICE);
      await encoder.write(resampler?.process(slice) ?? slice);
      await nextTurn();
    }
  };
  return {
    /** Takes the samples and returns; they are copied, an engine may use its buffer again. */
    write: (samples: Int16Array): void => {
      const taken = samples.slice();
      line.add(() => encode(taken));
    },
    /**
     * Resolves after the last encoded byte. @throws DomainError when encoding failed
     * or was aborted.
     */
    finish: async (): Promise<void> => {
      await line.done();
      if (resampler) await encoder.write(resampler.flush());
      await encoder.finish();
    },
  };
}

/** Turns samples at 24 kHz into bytes of one format, as they come. */
interface SpeechEncoder {
  /**
   * Resolves when the samples are taken: the encoder's back pressure. @throws
   * DomainError when aborted.
   */
  write(samples: Int16Array): Promise<void>;
  /**
   * Resolves after the last byte was given out. @throws DomainError when encoding failed.
   */
  finish(): Promise<void>;
}

function openEncoder(options: EncoderOptions): SpeechEncoder {
  const { format } = options;
  return format === 'wav' || format === 'pcm'
    ? rawEncoder(format, options)
    : ffmpegEncoder(format, options);
}

function rawEncoder(format: 'wav' | 'pcm', { signal, onBytes }: EncoderOptions): SpeechEncoder {
  let pendingHeader = format === 'wav';
  const begin = (): void => {
    if (pendingHeader) onBytes(streamedWavHeader(SPEECH_RATE));
    pendingHeader = false;
  };
  return {
    write: samples => {
      if (signal.aborted) return Promise.reject(abortError(signal));
      begin();
      onBytes(bytesOf(samples));
      return Promise.resolve();
    },
    finish: () => Promise.resolve(begin()),
  };
}

// The two probing flags stand before -i, or ffmpeg holds the first 2.1 s
// back (ENGINES "ffmpeg").
const INPUT = `-probesize 32 -analyzeduration 0 -f s16le -ar ${SPEECH_RATE} -ac 1 -i pipe:0 -threads 1`;

const OUTPUT: Readonly<Record<Exclude<SpeechFormat, 'wav' | 'pcm'>, string>> = {
  mp3: '-c:a libmp3lame -b:a 64k -write_xing 0 -f mp3',
  opus: '-c:a libopus -b:a 32k -page_duration 20000 -f ogg',
  aac: '-c:a aac -f adts',
  flac: '-c:a flac -f flac',
};

/**
 * One ffmpeg per speech, started in the preparation stage so that the device never
 * waits for it.
 */
function ffmpegEncoder(
  format: keyof typeof OUTPUT,
  { signal, onBytes }: EncoderOptions,
): SpeechEncoder {
  const args = `${INPUT} ${OUTPUT[format]} -flush_packets 1 pipe:1`;
  const { child, ended, complaint } = startFfmpeg(args, ['pipe', 'pipe', 'pipe'], signal);
  const input = child.stdin!;
  // A broken pipe shows in the exit code, with ffmpeg's own reason; without a listener
  // it would end this process.
  input.on('error', () => undefined);
  child.stdout!.on('data', onBytes);
  return {
    write: samples =>
      signal.aborted
        ? Promise.reject(abortError(signal))
        : new Promise(resolve => input.write(bytesOf(samples), () => resolve())),
    finish: async () => {
      input.end();
      const end = await ended;
      if (signal.aborted) throw abortError(signal);
      if (end instanceof DomainError) throw end;
      if (end === 0) return;
      const [reason = 'ffmpeg gave no reason'] = complaint().split('\n');
      throw new DomainError('engine_failed', `The speech could not be encoded: ${reason}`);
    },
  };
}

import { createRequire } from 'node:module';
import { ownName } from '@switchyard/engine-api/own-name.js';

/**
 * The part of sherpa-onnx-node that is used here; the package has no types of its own.
 */
interface SherpaLibrary {
  readonly version: string;
  /**
   * The constructors of these two end the process on a damaged file; `createAsync`
   * rejects. The others have no such way.
   */
  readonly OfflineRecognizer: {
    createAsync(config: object): Promise<{
      createStream(): AudioStream;
      decodeAsync(stream: AudioStream): Promise<RecognizerResult>;
    }>;
  };
  readonly OnlineRecognizer: new (config: object) => OnlineRecognizer;
  readonly OfflineTts: {
    createAsync(config: object): Promise<{
      readonly numSpeakers: number;
      readonly sampleRate: number;
      generate(request: {
        text: string;
        sid: number;
        speed: number;
        enableExternalBuffer: boolean;
      }): Waveform;
    }>;
  };
  readonly OfflineSpeakerDiarization: new (config: object) => {
    process(samples: Float32Array): readonly {
      /** Seconds from the start of the audio. */
      readonly start: number;
      readonly end: number;
      readonly speaker: number;
    }[];
  };
  readonly SpeakerEmbeddingExtractor: new (config: object) => {
    createStream(): OnlineStream;
    isReady(stream: OnlineStream): boolean;
    compute(stream: OnlineStream, enableExternalBuffer: boolean): Float32Array;
  };
  readonly Vad: new (config: object, bufferSeconds: number) => VoiceDetector;
}

interface Waveform {
  readonly sampleRate: number;
  readonly samples: Float32Array;
}

interface AudioStream {
  acceptWaveform(waveform: Waveform): void;
}

export interface OnlineStream extends AudioStream {
  inputFinished(): void;
}

export interface RecognizerResult {
  readonly text: string;
  readonly tokens: readonly string[];
  /** Start of each token in seconds; empty where a model has no times. */
  readonly timestamps: readonly number[];
  readonly durations?: readonly number[];
  readonly ys_log_probs?: readonly number[];
  readonly lang?: string;
}

export interface OnlineRecognizer {
  createStream(): OnlineStream;
  isReady(stream: OnlineStream): boolean;
  decodeStreams(streams: readonly OnlineStream[]): void;
  getResult(stream: OnlineStream): RecognizerResult;
}

export interface VoiceDetector {
  acceptWaveform(samples: Float32Array): void;
  /** Whether the last window holds speech. */
  isDetected(): boolean;
  isEmpty(): boolean;
  flush(): void;
  clear(): void;
  reset(): void;
}

/**
 * To be called on an engine thread. @throws Error with the command that
 * installs the package.
 */
export function loadSherpa(): SherpaLibrary {
  try {
    return createRequire(import.meta.url)('sherpa-onnx-node') as SherpaLibrary;
  } catch (cause) {
    const reason = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    throw new Error(
      `Cannot load sherpa-onnx-node (${reason}). Install it with \`${ownName()} engines install sherpa-onnx\`.`,
      { cause },
    );
  }
}

/** Samples as floats from -1 to 1, as sherpa-onnx takes them. */
export function toFloats(
  samples: Int16Array,
  from = 0,
  to = samples.length,
  least = 0,
): Float32Array {
  const floats = new Float32Array(Math.max(to - from, least));
  for (let i = from; i < to; i++) floats[i - from] = (samples[i] ?? 0) / 32_768;
  return floats;
}

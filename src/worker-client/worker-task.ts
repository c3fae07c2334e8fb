import { type Writable } from 'node:stream';
import {
  type TokenLogprob,
  type TranscriptionParams,
  type TranscriptSegment,
} from '@switchyard/engine-api/speech-recognizer.js';
import { type TokenUsage } from '@switchyard/engine-api/text-embedder.js';
import { type CallExecution } from '@switchyard/worker-protocol/call.codec.js';
import {
  type Embedded,
  type EmbedCallFields,
  type GenerateCallFields,
} from '@switchyard/worker-protocol/generation.codec.js';
import { type SpeechParams } from '@switchyard/worker-protocol/speech-format.js';
import { type TranscribeAnswer } from '@switchyard/worker-protocol/stt.codec.js';
import { type ScheduledRequest } from '../core/request/scheduled-request.js';

/** Audio of an upload, in memory or on disk. Disposing twice is harmless. */
export interface AudioSource {
  readonly size: number;
  bytes(): Promise<Buffer>;
  /**
   * From the beginning, in pieces, each valid until the next is requested; every call
   * starts from the beginning.
   */
  chunks(): AsyncIterable<Buffer>;
  dispose(): Promise<void>;
}

/** Audio that the worker fetches by itself; the gateway never asks for it. */
export interface AudioUrl {
  /** http or https, without credentials. */
  readonly url: string;
}

export interface TranscribeTask extends TranscriptionParams {
  readonly kind: 'transcribe';
  readonly audio: AudioSource | AudioUrl;
  /**
   * Seconds of audio, by its headers or guessed; absent: unknown. Long audio goes to the
   * worker in pieces.
   */
  readonly durationS?: number;
  /**
   * Called once per segment when it is final, in order of time, also when a second
   * worker starts over.
   */
  readonly onSegment?: (segment: TranscriptSegment, logprobs: readonly TokenLogprob[]) => void;
  /** As the client named it: a container hint for the decoder, never a path. */
  readonly filename: string;
}

/**
 * Where synthesised audio goes while the call runs. `audio` is ended on success and left
 * alone on failure.
 */
export interface SpeechSink {
  header(header: { readonly contentType: string; readonly sampleRate: number }): void;
  readonly audio: Writable;
}

export interface SynthesizeTask extends SpeechParams {
  readonly kind: 'synthesize';
  readonly sink: SpeechSink;
}

export interface GenerateTask extends Pick<
  GenerateCallFields,
  'form' | 'body' | 'maxTokens' | 'n'
> {
  readonly kind: 'generate';
  /**
   * Where the chunks of a streamed answer go while the call runs; absent: the whole answer
   * is in the reply.
   */
  readonly sink?: {
    /** Before the first chunk: from now on no other worker may start over. */
    begin?(): void;
    /** Each write is one JSON object. Ended on success and left alone on failure. */
    readonly chunks: Writable;
  };
}

export interface EmbedTask extends Pick<EmbedCallFields, 'form' | 'body' | 'inputs'> {
  readonly kind: 'embed';
}

export type WorkerTask = TranscribeTask | SynthesizeTask | GenerateTask | EmbedTask;

/** A request, and what it asks of a worker. */
export interface TaskRequest extends ScheduledRequest {
  readonly payload: WorkerTask;
}

export type WorkerReply =
  | TranscribeAnswer
  | {
      readonly kind: 'speech';
      readonly durationS: number;
      /** Seconds of pauses that the listener heard within the audio. */
      readonly lateS: number;
      readonly execution: CallExecution;
    }
  | {
      readonly kind: 'generation';
      /** The whole answer as JSON; empty when it was streamed. */
      readonly answer: Buffer;
      /** Absent: the engine did not report it. */
      readonly usage?: TokenUsage;
      /** Why each choice ended, in order of its index. */
      readonly finishReasons: readonly string[];
      /** From the start of the engine's work to its first token, as the worker reports it. */
      readonly firstTokenMs?: number;
      readonly execution: CallExecution;
    }
  | ({ readonly kind: 'embeddings' } & Embedded);

import { type PriorityLabel } from '../../core/request/request-priority.js';
import { type SpeechParams } from '../formats/speech.js';
import { type TranscriptionParams } from '../formats/transcript.js';

/** What a job asks for. Text generation and live streams need a connection and are never queued here (D-20, D-21). */
export const QUEUE_JOB_KINDS = ['transcription', 'translation', 'speech', 'embedding'] as const;
export type QueueJobKind = (typeof QUEUE_JOB_KINDS)[number];

/**
 * The data of one BullMQ job, version 1: what gateways write and any other BullMQ client may. JSON only; audio by
 * reference only. Absent fields have the default named here; an unknown field makes the job a dead letter (D-19).
 */
export type QueueJob = TranscriptionJob | SpeechJob | EmbeddingJob;

/** Fields of every kind. */
export interface QueueJobFields {
  readonly v: 1;
  /** The caller's request id. Default: the BullMQ job id. */
  readonly id: string;
  /** Canonical model id, the one of its queue. */
  readonly model: string;
  /** Default: batch. The BullMQ priority decides the order; this field goes to the engine and to metrics. */
  readonly priority: PriorityLabel;
  /** Whose it is; absent: there is one tenant only. */
  readonly tenant?: string;
  /** Epoch milliseconds. Default: the job's timestamp. */
  readonly acceptedMs: number;
  /** Epoch milliseconds after which a job that no worker took is answered `queue_timeout` (D-07). Absent: it waits. */
  readonly deadlineMs?: number;
  /** Milliseconds one worker may have it before `inference_timeout` (D-07). Default: 600,000. */
  readonly timeoutMs: number;
  /** SHA-256 of what is asked for, hex: the same id with a different one is a different request. Absent: unknown. */
  readonly fingerprint?: string;
  /** Receives the result, in addition to the result in the queue. */
  readonly callback?: JobCallback;
}

export interface TranscriptionJob extends QueueJobFields {
  readonly kind: 'transcription' | 'translation';
  readonly audio: JobAudio;
  readonly options: TranscriptionOptions;
}

export interface SpeechJob extends QueueJobFields {
  readonly kind: 'speech';
  readonly options: SpeechParams;
}

export interface EmbeddingJob extends QueueJobFields {
  readonly kind: 'embedding';
  readonly options: EmbeddingOptions;
}

/**
 * A key of the blob store that gateways and workers share (`blobs.*`), or what the worker fetches by the rules of
 * `fetch.*`.
 */
export type JobAudio = BlobReference | { readonly url: string };

/** A key of the blob store that gateways and workers share. */
export interface BlobReference {
  readonly blob: string;
}

export interface JobCallback {
  /** http or https. */
  readonly url: string;
  /** File in the worker's folder of secrets that signs it; absent: not signed. */
  readonly secretName?: string;
}

export interface TranscriptionOptions extends Omit<TranscriptionParams, 'task' | 'knownSpeakers'> {
  /** As the client named it: a container hint for the decoder, never a path. Default: audio. */
  readonly filename: string;
  /** Seconds, by headers or guessed; absent: unknown. */
  readonly durationS?: number;
  /** `blob`: an audio file of that voice alone. */
  readonly knownSpeakers: readonly { readonly name: string; readonly blob: string }[];
}

export interface EmbeddingOptions {
  /**
   * OpenAI's request as JSON text, byte by byte as the caller sent it; or where it is in the blob store when it is
   * large.
   */
  readonly body: string | BlobReference;
  /** Vectors that are wanted. */
  readonly inputs: number;
  /** What the body is. Default: a request for embeddings; `rerank`: `query` and `documents`, answered with scores. */
  readonly form?: 'rerank';
}

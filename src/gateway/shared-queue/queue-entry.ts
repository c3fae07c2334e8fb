import { type SpeechParams } from '../../contracts/formats/speech-format.js';
import { type EmbeddingOptions, type TranscriptionOptions } from '../../contracts/queue-jobs/queue-job.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';

/** Bytes that can be read from their beginning. */
export interface InlineBytes {
  readonly size: number;
  chunks(): AsyncIterable<Uint8Array>;
}

/** One request on its way into the shared queue. */
export interface QueueEntry {
  readonly id: string;
  readonly model: string;
  readonly tenant?: string;
  readonly priority: PriorityLabel;
  /** Epoch milliseconds. */
  readonly acceptedMs: number;
  /** Epoch milliseconds: no worker takes it later. */
  readonly deadlineMs: number;
  /** Milliseconds one worker may have it. */
  readonly timeoutMs: number;
  readonly work: PlaneWork;
}

/** What is asked, with its audio still here. */
export type PlaneWork =
  | {
      readonly kind: 'transcription' | 'translation';
      readonly audio: InlineBytes | { readonly url: string };
      readonly options: Omit<TranscriptionOptions, 'knownSpeakers'>;
      readonly speakers: readonly { readonly name: string; readonly reference: Uint8Array }[];
    }
  | { readonly kind: 'speech'; readonly options: SpeechParams }
  | { readonly kind: 'embedding'; readonly options: Omit<EmbeddingOptions, 'body'>; readonly body: Buffer };

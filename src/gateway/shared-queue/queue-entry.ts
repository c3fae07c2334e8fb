import { type SpeechParams } from '../../contracts/formats/speech.js';
import {
  decodeJobTranscript,
  type JobCompleted,
  type JobValue,
} from '../../contracts/queue-jobs/job-result.js';
import {
  type EmbeddingOptions,
  type TranscriptionOptions,
} from '../../contracts/queue-jobs/queue-job.js';
import { costOf } from '../../core/queue/request-place.js';
import {
  type PriorityLabel,
  priorityLabel,
} from '../../core/request/request-priority.js';
import {
  type TranscribeTask,
  type WorkerReply,
  type WorkerTask,
  type TaskRequest,
} from '../worker-pool/worker-task.js';

/** Bytes that can be read from the beginning. */
export interface InlineBytes {
  readonly size: number;
  chunks(): AsyncIterable<Uint8Array>;
}

/** A request as it enters the shared queue. */
export interface QueueEntry {
  readonly id: string;
  readonly model: string;
  readonly tenant?: string;
  readonly priority: PriorityLabel;
  /** Epoch milliseconds. */
  readonly acceptedMs: number;
  /** Epoch milliseconds: no worker takes it after this. */
  readonly deadlineMs: number;
  /** Milliseconds one worker may have it. */
  readonly timeoutMs: number;
  /** Estimated device milliseconds (D-25). */
  readonly costMs: number;
  readonly work: QueueEntryWork;
}

/** What is asked for. The audio is not in the blob store yet. */
type QueueEntryWork =
  | {
      readonly kind: 'transcription' | 'translation';
      readonly audio: InlineBytes | { readonly url: string };
      readonly options: Omit<TranscriptionOptions, 'knownSpeakers'>;
      readonly speakers: readonly {
        readonly name: string;
        readonly reference: Uint8Array;
      }[];
    }
  | { readonly kind: 'speech'; readonly options: SpeechParams }
  | {
      readonly kind: 'embedding';
      readonly options: Omit<EmbeddingOptions, 'body'>;
      readonly body: Buffer;
    };

/**
 * Work that goes through the shared queue. Text generation needs a connection to
 * its worker (D-21).
 */
export type PulledTask = Exclude<WorkerTask, { readonly kind: 'generate' }>;

export const isPulled = (task: WorkerTask): task is PulledTask =>
  task.kind !== 'generate';

/**
 * Instants become epoch milliseconds: the monotonic clocks of two machines
 * cannot be compared.
 * @param nowMs monotonic, like the instants of the request
 */
export function toQueueEntry(
  request: TaskRequest,
  task: PulledTask,
  nowMs: number,
): QueueEntry {
  const { id, model, tenant, priority, inferenceTimeoutMs } = request;
  const epochMs = Date.now() - nowMs;
  return {
    id,
    model,
    priority: priorityLabel(priority),
    tenant,
    acceptedMs: Math.round(epochMs + request.enqueuedAtMs),
    deadlineMs: Math.round(epochMs + request.queueDeadlineMs),
    timeoutMs: Math.round(inferenceTimeoutMs),
    costMs: costOf(request),
    work: toWork(task),
  };
}

function toWork(task: PulledTask): QueueEntryWork {
  switch (task.kind) {
    case 'transcribe':
      return transcription(task);
    case 'embed': {
      const { inputs, form, body } = task;
      return { kind: 'embedding', options: { inputs, ...(form && { form }) }, body };
    }
    case 'synthesize': {
      const { text, voice, speed, format } = task;
      return { kind: 'speech', options: { text, voice, speed, format } };
    }
  }
}

/** Segments arrive with the result: a queue cannot send them while they are made. */
function transcription(task: TranscribeTask): QueueEntryWork {
  const {
    kind: _kind,
    task: what,
    audio,
    knownSpeakers: speakers,
    onSegment: _onSegment,
    ...options
  } = task;
  return {
    kind: what === 'translate' ? 'translation' : 'transcription',
    audio,
    options,
    speakers,
  };
}

/** The audio of speech is not part of it: it is read from the blob store before. */
export function toWorkerReply({ value, execution }: JobCompleted<JobValue>): WorkerReply {
  switch (value.kind) {
    case 'transcript':
      return {
        kind: 'transcript',
        transcript: decodeJobTranscript(value.transcript),
        execution,
      };
    case 'speech':
      return { kind: 'speech', durationS: value.durationS, execution };
    case 'embeddings': {
      const { dimensions, usage } = value;
      const vectors = Buffer.from(value.vectors, 'base64');
      return { kind: 'embeddings', vectors, dimensions, usage, execution };
    }
  }
}

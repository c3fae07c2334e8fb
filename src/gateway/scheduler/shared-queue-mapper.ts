import { decodeJobTranscript, type JobCompleted, type JobValue } from '../../contracts/queue-jobs/job-result.js';
import { priorityLabel } from '../../core/request/request-priority.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type QueueEntry, type PlaneWork } from '../shared-queue/queue-entry.js';
import {
  type SynthesizeTask,
  type TranscribeTask,
  type WorkerReply,
  type WorkerTask,
} from '../worker-pool/worker-task.js';

/** What the shared queue takes. Text generation needs a connection (D-21). */
export type PulledTask = Exclude<WorkerTask, { readonly kind: 'generate' }>;

export const isPulled = (task: WorkerTask): task is PulledTask => task.kind !== 'generate';

/**
 * A request as the shared queue takes it. Instants are epoch milliseconds there: monotonic clocks of two machines have nothing
 * to do with each other.
 * @param nowMs monotonic, as the request's stamps are
 */
export function planeEntry(request: ScheduledRequest<WorkerTask>, task: PulledTask, nowMs: number): QueueEntry {
  const { id, model, tenant, priority, inferenceTimeoutMs } = request;
  const epochMs = Date.now() - nowMs;
  return {
    ...{ id, model, priority: priorityLabel(priority) },
    ...(tenant !== undefined && { tenant }),
    acceptedMs: Math.round(epochMs + request.enqueuedAtMs),
    deadlineMs: Math.round(epochMs + request.queueDeadlineMs),
    timeoutMs: Math.round(inferenceTimeoutMs),
    work: planeWork(task),
  };
}

function planeWork(task: PulledTask): PlaneWork {
  if (task.kind === 'transcribe') return transcription(task);
  if (task.kind === 'embed') {
    return { kind: 'embedding', options: { inputs: task.inputs }, body: task.body };
  }
  const { text, voice, speed, format }: SynthesizeTask = task;
  return { kind: 'speech', options: { text, voice, speed, format } };
}

/** Segments are told once, with the end: a queue has no way back for them. */
function transcription(task: TranscribeTask): PlaneWork {
  const { kind: _kind, task: what, audio, knownSpeakers: speakers, onSegment: _onSegment, ...options } = task;
  return { kind: what === 'translate' ? 'translation' : 'transcription', audio, options, speakers };
}

/** A result that is whole as it is; speech lies in the blob store and is read first. */
export function planeReply({ value, execution }: JobCompleted<JobValue>): WorkerReply {
  switch (value.kind) {
    case 'transcript':
      return { kind: 'transcript', transcript: decodeJobTranscript(value.transcript), execution };
    case 'speech':
      return { kind: 'speech', durationS: value.durationS, execution };
    case 'embeddings': {
      const { dimensions, usage } = value;
      const vectors = Buffer.from(value.vectors, 'base64');
      return { kind: 'embeddings', vectors, dimensions, ...(usage && { usage }), execution };
    }
  }
}

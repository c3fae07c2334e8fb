import { Metadata } from '@grpc/grpc-js';
import { RequestPriority } from '@switchyard/engine-api/request-priority.js';
import { type RecognizerEvent } from '@switchyard/engine-api/speech-recognizer.js';
import { type Urgency } from '@switchyard/engine-api/text-embedder.js';
import { type Execution, type Group, Priority } from './generated/switchyard/v1/common.js';
import {
  type StreamConfig,
  type TranscribeStreamRequest,
  type TranscribeStreamResponse,
} from './generated/switchyard/v1/stt.js';

export { type StreamConfig };

/**
 * What a live stream reports: the engine's events and, with voice activity, where speech
 * is, padding included.
 */
export type StreamEvent =
  | RecognizerEvent
  | {
      readonly type: 'speech_started' | 'speech_stopped';
      readonly utterance: number;
      readonly at: number;
    };

export const streamConfigMessage = (config: StreamConfig): TranscribeStreamRequest => ({
  message: { $case: 'config', value: config },
});

/** Audio of a live stream, or of an upload. */
export const audioMessage = (value: Buffer) => ({ message: { $case: 'audio', value } }) as const;

export const STREAM_COMMIT: TranscribeStreamRequest = {
  message: { $case: 'commit', value: {} },
};

/** The events of a live stream and their names in the proto. */
const CASES = {
  partial: 'partial',
  final: 'final',
  speech_started: 'speechStarted',
  speech_stopped: 'speechStopped',
} as const;

/** The name that stands for a value of the proto; undefined: it is not known here. */
export const nameOf = <K extends string>(
  values: Readonly<Record<K, unknown>>,
  value: unknown,
): K | undefined => (Object.keys(values) as K[]).find(name => values[name] === value);

/**
 * `ready`: the worker has given the stream a place. Undefined: a kind of event this
 * version does not know.
 */
export function decodeStreamEvent({
  event,
}: TranscribeStreamResponse): StreamEvent | 'ready' | undefined {
  if (event?.$case === 'ready') return 'ready';
  const type = event && nameOf(CASES, event.$case);
  return type && ({ type, ...corrected(event.value) } as StreamEvent);
}

export function encodeStreamEvent({ type, ...value }: StreamEvent): TranscribeStreamResponse {
  return { event: { $case: CASES[type], value } as TranscribeStreamResponse['event'] };
}

export {
  type CancelRequest,
  type CancelResponse,
  type ProgressRequest,
  type ProgressResponse,
} from './generated/switchyard/v1/common.js';

/** What every call to a worker carries besides its own fields. */
export interface CallEnvelope {
  readonly requestId: string;
  readonly priority: RequestPriority;
  /** Calls dispatched together (D-24). */
  readonly group: CallGroup;
  /** W3C Trace Context of its request, sent as metadata. */
  readonly traceparent?: string | undefined;
}

export interface CallGroup {
  readonly id: string;
  /** Calls sent with this id, 1 or more. */
  readonly size: number;
  /**
   * Aged BATCH (D-03): the share of the device's turns that such calls get while REALTIME
   * waits as well, above 0 to 1.
   */
  readonly agingShare?: number;
  /** Milliseconds that the device may take for this call alone (D-07); absent: unlimited. */
  readonly timeLimitMs?: number | undefined;
  /** Milliseconds that are left until the caller wants the first output; absent: no deadline. */
  readonly firstOutputMs?: number | undefined;
}

/** How one request was computed. `batchId` is empty when the worker reports none. */
export interface CallExecution extends Readonly<Omit<Execution, 'shareMs'>> {
  /** Its part of the device's time; absent: `deviceMs` divided by `batchSize`. */
  readonly shareMs?: number;
}

/**
 * Device milliseconds of one request: its part of its engine call. Undefined: the
 * worker reports none.
 */
export const deviceShareMs = ({
  deviceMs,
  batchSize,
  shareMs = deviceMs / batchSize,
}: CallExecution) => (shareMs > 0 ? shareMs : undefined);

const TRACEPARENT = 'traceparent';

/** Metadata of a call whose worker may ask another server. */
export function traceMetadata({ traceparent }: Pick<CallEnvelope, 'traceparent'>) {
  const metadata = new Metadata();
  if (traceparent !== undefined) metadata.set(TRACEPARENT, traceparent);
  return metadata;
}

export const traceOfCall = (metadata: Metadata): Pick<CallEnvelope, 'traceparent'> => ({
  traceparent: metadata.get(TRACEPARENT)[0]?.toString(),
});

/**
 * Aged BATCH is sent as REALTIME, so that a worker that knows no aging treats it rightly.
 */
export const encodeEnvelope = ({
  requestId,
  priority,
  group: { id, size, agingShare = 0, timeLimitMs = 0, firstOutputMs = 0 },
}: CallEnvelope) => ({
  requestId,
  priority:
    priority === RequestPriority.REALTIME || agingShare > 0 ? Priority.REALTIME : Priority.BATCH,
  group: { id, size, agingShare, timeLimitMs, firstOutputMs },
});

/** What names a call: its request, and the attempt at it, which is its group's id (D-56). */
export const attemptOf = (message: { readonly requestId: string; readonly group?: Group }) => ({
  id: message.requestId,
  attempt: message.group?.id,
});

/** Its class, as it is passed on to a server behind an engine. */
export const urgencyOf = ({ priority, group }: Pick<CallEnvelope, 'priority' | 'group'>): Urgency =>
  priority === RequestPriority.REALTIME ? 'realtime' : group.agingShare ? 'aged' : 'batch';

/**
 * A call without a group is a group of its own. Aged BATCH is BATCH with
 * an `agingShare` again.
 */
export function decodeEnvelope(message: {
  readonly requestId: string;
  readonly priority: Priority;
  readonly group?: Group;
}): CallEnvelope {
  const { id = '', size = 1, agingShare = 0, timeLimitMs, firstOutputMs } = message.group ?? {};
  const isAged = agingShare > 0;
  const isRealtime = message.priority === Priority.REALTIME && !isAged;
  return {
    requestId: message.requestId,
    priority: isRealtime ? RequestPriority.REALTIME : RequestPriority.BATCH,
    group: {
      id: id || message.requestId,
      size: Math.max(1, size),
      agingShare: isAged ? Math.min(1, agingShare) : undefined,
      timeLimitMs: timeLimitMs || undefined,
      firstOutputMs: firstOutputMs || undefined,
    },
  };
}

export const encodeExecution = (execution: CallExecution): Execution => ({
  ...execution,
  shareMs: execution.shareMs ?? 0,
});

/** Log probabilities are the only numbers of a worker that may be negative. */
const LOGPROB = /logprob$/i;

/**
 * Sets the numbers of a message to 0 that are not finite, or negative although they count
 * or measure. In place.
 */
export function corrected<T extends object>(message: T): T {
  for (const [name, value] of Object.entries(message) as [string, unknown][]) {
    const isSound =
      typeof value !== 'number' || (Number.isFinite(value) && (value >= 0 || LOGPROB.test(name)));
    if (!isSound) Object.assign(message, { [name]: 0 });
    else if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value))
      corrected(value);
  }
  return message;
}

const UNREPORTED: Execution = {
  prepMs: 0,
  readyWaitMs: 0,
  deviceMs: 0,
  batchSize: 1,
  batchId: '',
  shareMs: 0,
};

/** A worker that reports no execution computed the request alone, in unknown time. */
export function decodeExecution(reported: Execution = UNREPORTED): CallExecution {
  const { shareMs, batchSize, ...times } = corrected(reported);
  return { ...times, batchSize: Math.max(1, batchSize), shareMs: shareMs || undefined };
}

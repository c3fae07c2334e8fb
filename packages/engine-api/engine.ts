import { type BehaviorSubject } from 'rxjs';
import { EngineError } from './coded-error.js';

/**
 * What models of each kind can do: in the models file, and in what an engine
 * reports of itself. stt: speech to text. tts: text to speech. llm: chat and completions.
 * embedding: text to vectors.
 */
export const KIND_CAPABILITIES = {
  stt: [
    'transcribe',
    'translate',
    'word_timestamps',
    'prompt',
    'hot_words',
    'temperature',
    'logprobs',
    'diarize',
    'stream',
  ],
  tts: ['speech', 'speed'],
  llm: ['logprobs', 'chat', 'completions', 'tools', 'responses', 'messages'],
  embedding: ['embeddings', 'dimensions', 'rerank'],
} as const;

export type ModelKind = keyof typeof KIND_CAPABILITIES;

export const MODEL_KINDS = Object.keys(KIND_CAPABILITIES) as readonly ModelKind[];

/** What a request can ask of the transcript of a file. */
export const TRANSCRIPT_CAPABILITIES = KIND_CAPABILITIES.stt.filter(name => name !== 'stream');

export const ENGINE_CAPABILITIES = [...new Set(Object.values(KIND_CAPABILITIES).flat())];

export type EngineCapability = (typeof ENGINE_CAPABILITIES)[number];

/**
 * What an engine tells about itself after `load()`; reported by the worker's Health RPC.
 */
export interface EngineInfo {
  readonly engine: string;
  /** "cpu", "cuda:0", ... */
  readonly device: string;
  /** Version of the loaded model files, for reports. */
  readonly revision: string;
  /** Largest group one call takes. */
  readonly maxBatch: number;
  /** Engine calls that may run at the same time. */
  readonly maxConcurrent: number;
  /**
   * Milliseconds that a call of a whole group is expected to take, as found at load;
   * absent: not known.
   */
  readonly callMs?: number;
  /** Live streams that it takes besides files; 0: none. */
  readonly streams: number;
  /**
   * REALTIME calls taken beyond `maxConcurrent`, by an engine in which they displace
   * others; absent: none.
   */
  readonly overdraft?: number;
  readonly capabilities: readonly EngineCapability[];
  /** BCP-47 tags; empty: any. */
  readonly languages: readonly string[];
}

/** One member's result: a failure touches its own request only (D-05). */
export type ItemOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: Error };

export interface EngineBase {
  readonly info: EngineInfo;
  /**
   * True while the server that computes in its place cannot be reached. Absent:
   * it computes itself.
   */
  readonly away$?: BehaviorSubject<boolean>;
  /**
   * Loads and warms up; once per process. Rejects with a message that says what to
   * install or where to look.
   */
  load(): Promise<void>;
  /**
   * Reads what `load()` needs without loading it, and returns what it takes, such as
   * memory. Throws an Error that says what is missing, incomplete or too large. Absent:
   * nothing to read.
   */
  checkFiles?(): string;
  /** Frees native memory. Idempotent. */
  close(): Promise<void>;
}

/**
 * What computes (a thread, a process, another server) died during the call; any of its
 * items may be the cause. Callers get `engine_failed` or the given code; of
 * `worker_crashed` and in a pull worker each item is tried again (D-38).
 */
export class DeviceGone extends EngineError {
  constructor(
    message: string,
    { cause, code = 'engine_failed' }: { cause?: unknown; code?: EngineError['code'] },
  ) {
    super(code, message, { cause });
  }
}

export function succeeded<T>(value: T): ItemOutcome<T> {
  return { ok: true, value };
}

/** An error thrown for one item fails that item only (D-05). */
export function failed<T>(cause: unknown): ItemOutcome<T> {
  return {
    ok: false,
    error: cause instanceof Error ? cause : new EngineError('engine_failed', String(cause)),
  };
}

/**
 * The outcome of an aborted item: it is ignored, but the group stays complete
 * and in order.
 */
export function cancelledError(requestId: string): EngineError {
  return new EngineError(
    'request_cancelled',
    `Request ${requestId} was cancelled while the engine had it.`,
  );
}

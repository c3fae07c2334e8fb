import { readObject, wrongField } from '@switchyard/engine-api/field-problems.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import {
  checked,
  defaulted,
  FLAG,
  numberFrom,
  objectOf,
  objectsUpTo,
  oneOf,
  optional,
  textUpTo,
  wholeNumberFrom,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';

/**
 * What a job asks for. Text generation and live streams need a connection and are never
 * queued here (D-20, D-21).
 */
const QUEUE_JOB_KINDS = ['transcription', 'translation', 'speech', 'embedding'] as const;

const LONG = 10_000_000;
const LARGE_BYTES = 64 * 1_048_576;
const POSITIVE = numberFrom(0, Number.MAX_SAFE_INTEGER);

const TEXTS = checked<readonly string[]>(
  value => Array.isArray(value) && value.every(entry => typeof entry === 'string'),
  'a list of strings',
);

/** A key of the blob store that gateways and workers share. */
const BLOB = textUpTo(200);
const BLOB_REFERENCE = objectOf({ blob: BLOB });

const CALLBACK = objectOf({
  // http or https.
  url: textUpTo(2048),
  // File in the worker's folder of secrets that signs it; absent: not signed.
  secretName: optional(textUpTo(128)),
});

/**
 * A key of the blob store that gateways and workers share (`blobs.*`), or what the worker
 * fetches by the rules of `fetch.*`.
 */
const AUDIO = objectOf({ blob: optional(BLOB), url: optional(textUpTo(8192)) })
  .refine(
    ({ blob, url }) => (blob === undefined) !== (url === undefined),
    'must have exactly one of blob and url',
  )
  .transform(({ blob, url = '' }): { readonly blob: string } | { readonly url: string } =>
    blob === undefined ? { url } : { blob },
  );

/**
 * What a job of any kind has besides its options. Absent fields have the
 * default named here.
 */
const fieldsOf = <const K extends (typeof QUEUE_JOB_KINDS)[number]>(kinds: readonly K[]) => ({
  v: oneOf([1]),
  kind: oneOf(kinds),
  // Canonical model id. Default: the one of the queue; no other is allowed.
  model: optional(textUpTo(128)),
  // Receives the result, in addition to the result in the queue.
  callback: optional(CALLBACK),
  // The caller's request id. Default: the BullMQ job id.
  id: optional(textUpTo(256)),
  // The BullMQ priority decides the order; this field goes to the engine and to metrics.
  priority: defaulted(oneOf(['realtime', 'batch']), 'batch'),
  // Whose it is; absent: there is one tenant only.
  tenant: optional(textUpTo(1024)),
  // Epoch milliseconds. Default: the job's timestamp.
  acceptedMs: optional(POSITIVE),
  // Epoch milliseconds after which a job that no worker took is answered `queue_timeout`
  // (D-07). Absent: it waits.
  deadlineMs: optional(POSITIVE),
  // Milliseconds one worker may have it before `inference_timeout` (D-07).
  timeoutMs: defaulted(numberFrom(1, Number.MAX_SAFE_INTEGER), 600_000),
  // SHA-256 of what is asked for, hex: the same id with a different one is a different
  // request. Absent: unknown.
  fingerprint: optional(textUpTo(128)),
});

const CHUNKING = objectOf({
  threshold: numberFrom(0, 1),
  prefixPaddingMs: POSITIVE,
  silenceDurationMs: POSITIVE,
});

const TRANSCRIPTION_OPTIONS = objectOf({
  // Of `knownSpeakers`, an audio file of that voice alone.
  knownSpeakers: defaulted(objectsUpTo(16, objectOf({ name: textUpTo(1024), blob: BLOB })), []),
  chunking: optional(CHUNKING),
  // Text of an unfinished utterance that later text replaces.
  draft: optional(FLAG),
  // As the client named it: a container hint for the decoder, never a path.
  filename: defaulted(textUpTo(4096), 'audio'),
  // Seconds, by headers or guessed; absent: unknown.
  durationS: optional(POSITIVE),
  language: defaulted(textUpTo(64), ''),
  prompt: defaulted(textUpTo(LONG), ''),
  temperature: defaulted(numberFrom(0, 1), 0),
  wordTimestamps: defaulted(FLAG, false),
  logprobs: defaulted(FLAG, false),
  diarize: defaulted(FLAG, false),
  hotWords: defaulted(TEXTS, []),
});

/** What an engine has to be able to where an option is given. */
export const CAPABILITY_OF_OPTION = {
  prompt: 'prompt',
  temperature: 'temperature',
  wordTimestamps: 'word_timestamps',
  logprobs: 'logprobs',
  diarize: 'diarize',
  knownSpeakers: 'diarize',
  hotWords: 'hot_words',
} as const;

/** Encodings of synthesised audio. */
const SPEECH_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;

const SPEECH_OPTIONS = objectOf({
  text: textUpTo(LONG),
  voice: textUpTo(1024),
  speed: defaulted(numberFrom(0.25, 4), 1),
  format: defaulted(oneOf(SPEECH_FORMATS), 'mp3'),
});

const EMBEDDING_OPTIONS = objectOf({
  /*
   * OpenAI's request as JSON text, byte by byte as the caller sent it; or where it is in the blob store when it is
   * large.
   */
  body: z.union([textUpTo(LARGE_BYTES), BLOB_REFERENCE]),
  // Vectors that are wanted.
  inputs: wholeNumberFrom(1, 1_000_000),
  // What the body is. Default: a request for embeddings; `rerank`: `query` and
  // `documents`, answered with scores.
  form: optional(oneOf(['rerank'])),
});

const given = <S extends z.ZodType>(options: S) => z.preprocess(value => value ?? {}, options);

const TRANSCRIPTION = z.compile(
  objectOf({
    ...fieldsOf(['transcription', 'translation']),
    audio: AUDIO,
    options: given(TRANSCRIPTION_OPTIONS),
  }),
);
const SPEECH = z.compile(objectOf({ ...fieldsOf(['speech']), options: given(SPEECH_OPTIONS) }));
const EMBEDDING = z.compile(
  objectOf({ ...fieldsOf(['embedding']), options: given(EMBEDDING_OPTIONS) }),
);
const BY_KIND = {
  transcription: TRANSCRIPTION,
  translation: TRANSCRIPTION,
  speech: SPEECH,
  embedding: EMBEDDING,
};

/** The part that is read of a job of an unknown kind. */
const HEAD = z.looseObject({ v: oneOf([1]), kind: oneOf(QUEUE_JOB_KINDS) }, 'must be an object');

type Placed<Job> = Job & {
  readonly id: string;
  readonly model: string;
  readonly acceptedMs: number;
};

export type JobCallback = z.output<typeof CALLBACK>;
export type TranscriptionJob = Placed<z.output<typeof TRANSCRIPTION>>;

/**
 * The data of one BullMQ job, version 1: what gateways write and any other BullMQ
 * client may. JSON only; audio by reference only. An unknown field makes the job a
 * dead letter (D-19).
 */
export type QueueJob =
  | TranscriptionJob
  | Placed<z.output<typeof SPEECH>>
  | Placed<z.output<typeof EMBEDDING>>;

/**
 * Reads the data of a job from any writer and fills in defaults.
 * @throws CodedError `invalid_value`, `missing_required_parameter` or
 *   `unknown_parameter`, saying which field and
 *   why: a dead letter.
 */
export function readQueueJob(
  data: unknown,
  /** What BullMQ knows of the job besides its data. */
  place: {
    readonly jobId: string;
    /** Epoch milliseconds. */
    readonly timestamp: number;
    readonly model: string;
  },
): QueueJob {
  const kind = isObject(data) ? String(data.kind) : '';
  const schema = Object.hasOwn(BY_KIND, kind) ? BY_KIND[kind as keyof typeof BY_KIND] : HEAD;
  const job = readObject<z.ZodType>(schema, data, 'data') as QueueJob;
  const { id = place.jobId, model = place.model, acceptedMs = place.timestamp } = job;
  if (model !== place.model) {
    throw wrongField('data.model', model, `must be ${place.model}, the model of this queue`);
  }
  return { ...job, id, model, acceptedMs };
}

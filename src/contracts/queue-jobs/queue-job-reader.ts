import { SPEECH_FORMATS, type SpeechParams } from '../formats/speech.js';
import { type Chunking } from '../formats/transcript.js';
import { FieldReader } from '../realtime/field-reader.js';
import {
  type EmbeddingOptions,
  QUEUE_JOB_KINDS,
  type JobAudio,
  type JobCallback,
  type QueueJob,
  type QueueJobFields,
  type QueueJobKind,
  type TranscriptionOptions,
} from './queue-job.js';

/** For jobs that say none, milliseconds. */
export const DEFAULT_TIMEOUT_MS = 600_000;

/** What BullMQ knows of a job besides its data. */
export interface JobPlace {
  readonly jobId: string;
  /** Epoch milliseconds. */
  readonly timestamp: number;
  readonly model: string;
}

const LONG = 10_000_000;
const FUTURE = Number.MAX_SAFE_INTEGER;

/**
 * Reads the data of a job from any writer and fills in defaults.
 * @throws DomainError `invalid_value`, `missing_required_parameter` or `unknown_parameter`, saying which field and
 *   why: a dead letter.
 */
export function readQueueJob(data: unknown, place: JobPlace): QueueJob {
  const job = new FieldReader(data, 'data');
  if (job.oneOf('v', [1]) === undefined) throw job.missing('v');
  const kind = demanded(job, 'kind', job.oneOf('kind', QUEUE_JOB_KINDS));
  const model = job.string('model', 128) ?? place.model;
  if (model !== place.model) throw job.invalid('model', `must be ${place.model}, the model of this queue`);
  const fields = readFields(job, place, model);
  const read = readOfKind(kind, fields, job);
  job.done();
  return read;
}

function readOfKind(kind: QueueJobKind, fields: QueueJobFields, job: FieldReader): QueueJob {
  const options = job.object('options') ?? new FieldReader({}, job.pathOf('options'));
  const read = ((): QueueJob => {
    switch (kind) {
      case 'transcription':
      case 'translation':
        return { ...fields, kind, audio: readAudio(job), options: readTranscription(options) };
      case 'speech':
        return { ...fields, kind, options: readSpeech(options) };
      case 'embedding':
        return { ...fields, kind, options: readEmbedding(options) };
    }
  })();
  options.done();
  return read;
}

function readFields(job: FieldReader, place: JobPlace, model: string): QueueJobFields {
  const callback = job.object('callback');
  return {
    v: 1,
    id: job.string('id', 256) ?? place.jobId,
    model,
    priority: job.oneOf('priority', ['realtime', 'batch']) ?? 'batch',
    ...present('tenant', job.string('tenant', 1024)),
    acceptedMs: job.number('acceptedMs', 0, FUTURE) ?? place.timestamp,
    ...present('deadlineMs', job.number('deadlineMs', 0, FUTURE)),
    timeoutMs: job.number('timeoutMs', 1, FUTURE) ?? DEFAULT_TIMEOUT_MS,
    ...present('fingerprint', job.string('fingerprint', 128)),
    ...(callback && { callback: readCallback(callback) }),
  };
}

function readCallback(callback: FieldReader): JobCallback {
  const url = demanded(callback, 'url', callback.string('url', 2048));
  const read = { url, ...present('secretName', callback.string('secretName', 128)) };
  callback.done();
  return read;
}

function readAudio(job: FieldReader): JobAudio {
  const audio = demanded(job, 'audio', job.object('audio'));
  const blob = audio.string('blob', 200);
  const url = audio.string('url', 8192);
  audio.done();
  if (blob !== undefined && url === undefined) return { blob };
  if (url !== undefined && blob === undefined) return { url };
  throw job.invalid('audio', 'must have exactly one of blob and url');
}

function readTranscription(options: FieldReader): TranscriptionOptions {
  const speakers = options.objects('knownSpeakers', 16) ?? [];
  const chunking = options.object('chunking');
  return {
    filename: options.string('filename', 4096) ?? 'audio',
    ...present('durationS', options.number('durationS', 0, FUTURE)),
    language: options.string('language', 64) ?? '',
    prompt: options.string('prompt', LONG) ?? '',
    temperature: options.number('temperature', 0, 1) ?? 0,
    wordTimestamps: options.boolean('wordTimestamps') ?? false,
    ...(chunking && { chunking: readChunking(chunking) }),
    logprobs: options.boolean('logprobs') ?? false,
    diarize: options.boolean('diarize') ?? false,
    knownSpeakers: speakers.map(readSpeaker),
    hotWords: readTexts(options, 'hotWords'),
  };
}

function readChunking(chunking: FieldReader): Chunking {
  const read = {
    threshold: demanded(chunking, 'threshold', chunking.number('threshold', 0, 1)),
    prefixPaddingMs: demanded(chunking, 'prefixPaddingMs', chunking.number('prefixPaddingMs', 0, FUTURE)),
    silenceDurationMs: demanded(chunking, 'silenceDurationMs', chunking.number('silenceDurationMs', 0, FUTURE)),
  };
  chunking.done();
  return read;
}

function readSpeaker(speaker: FieldReader) {
  const name = demanded(speaker, 'name', speaker.string('name', 1024));
  const blob = demanded(speaker, 'blob', speaker.string('blob', 200));
  speaker.done();
  return { name, blob };
}

function readSpeech(options: FieldReader): SpeechParams {
  return {
    text: demanded(options, 'text', options.string('text', LONG)),
    voice: demanded(options, 'voice', options.string('voice', 1024)),
    speed: options.number('speed', 0.25, 4) ?? 1,
    format: options.oneOf('format', SPEECH_FORMATS) ?? 'mp3',
  };
}

function readEmbedding(options: FieldReader): EmbeddingOptions {
  const body = demanded(options, 'body', readBody(options));
  const inputs = demanded(options, 'inputs', options.integer('inputs', 1, 1_000_000));
  const form = options.oneOf('form', ['rerank']);
  return { body, inputs, ...(form && { form }) };
}

function readBody(options: FieldReader): EmbeddingOptions['body'] | undefined {
  if (typeof options.raw('body') === 'string') return options.string('body', 64 * 1_048_576);
  const body = options.object('body');
  if (!body) return undefined;
  const blob = demanded(body, 'blob', body.string('blob', 200));
  body.done();
  return { blob };
}

function readTexts(fields: FieldReader, name: string): readonly string[] {
  const value = fields.raw(name) ?? [];
  if (!Array.isArray(value) || !value.every(entry => typeof entry === 'string')) {
    throw fields.invalid(name, 'must be a list of strings');
  }
  return value;
}

function demanded<T>(fields: FieldReader, name: string, value: T | undefined): T {
  if (value === undefined) throw fields.missing(name);
  return value;
}

const present = <K extends string, T>(name: K, value: T | undefined) =>
  (value === undefined ? {} : { [name]: value }) as Partial<Record<K, T>>;

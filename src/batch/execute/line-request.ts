import { type BatchJob, isSpeech } from '../../core/jobs/batch-job.js';
import { type AudioFields, type MultipartForm } from './audio-upload.js';
import { type LineParts } from '../job/input-lines.js';
import { type LineRequest } from './line-target.js';

/** The request of a line, and how its answer is stored. */
interface PreparedLine {
  readonly request: Pick<LineRequest, 'path' | 'contentType' | 'bytes' | 'body'>;
  /** Speech: the audio is stored in the output line. */
  readonly wantsBase64: boolean;
}

const AUDIO_IN = /^\/v1\/audio\/(transcriptions|translations)$/;

/**
 * Bodies are sent unchanged, except: audio becomes a form, speech loses
 * `response_encoding`. @throws LineProblem
 */
export function prepareLine(
  job: BatchJob,
  { body }: LineParts,
  audioForm: (fields: AudioFields) => Promise<MultipartForm>,
): PreparedLine | Promise<PreparedLine> {
  const path = job.endpoint;
  if (AUDIO_IN.test(path))
    return audioForm(parsed(body)).then(form => ({
      request: {
        path,
        contentType: form.contentType,
        bytes: form.bytes,
        body: () => form.body(),
      },
      wantsBase64: false,
    }));
  if (!isSpeech(job)) return { request: json(path, body), wantsBase64: false };
  const { response_encoding: encoding, ...speech } = parsed(body);
  return {
    request: json(path, Buffer.from(JSON.stringify(speech))),
    wantsBase64: encoding === 'base64',
  };
}

const json = (path: string, bytes: Buffer): PreparedLine['request'] => ({
  path,
  contentType: 'application/json',
  bytes: bytes.length,
  body: () => bytes,
});

const parsed = (body: Buffer): AudioFields => JSON.parse(body.toString()) as AudioFields;

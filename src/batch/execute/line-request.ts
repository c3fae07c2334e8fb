import { type BatchJob, isSpeech } from '../../core/jobs/batch-job.js';
import { type AudioUpload } from './audio-upload.js';
import { type LineParts } from '../job/input-lines.js';
import { type LineRequest } from './line-target.js';

/** The request of a line, and how its answer is stored. */
export interface PreparedLine {
  readonly request: Pick<LineRequest, 'path' | 'contentType' | 'bytes' | 'body'>;
  /** Speech: the audio is stored in the output line. */
  readonly wantsBase64: boolean;
}

const AUDIO_IN = /^\/v1\/audio\/(transcriptions|translations)$/;

export interface Preparation {
  readonly job: BatchJob;
  readonly parts: LineParts;
  readonly audio: AudioUpload;
  readonly fetchesFileUrl: boolean;
  readonly signal: AbortSignal;
}

/**
 * Bodies are sent unchanged, except: audio becomes a form, speech loses
 * `response_encoding`. @throws LineProblem
 */
export function prepareLine(
  preparation: Preparation,
): PreparedLine | Promise<PreparedLine> {
  const { job, parts } = preparation;
  if (AUDIO_IN.test(job.endpoint)) return withForm(preparation);
  if (!isSpeech(job))
    return { request: json(job.endpoint, parts.body), wantsBase64: false };
  const { response_encoding: encoding, ...body } = parsed(parts.body);
  return {
    request: json(job.endpoint, Buffer.from(JSON.stringify(body))),
    wantsBase64: encoding === 'base64',
  };
}

async function withForm({
  job,
  parts,
  audio,
  fetchesFileUrl,
  signal,
}: Preparation): Promise<PreparedLine> {
  const form = await audio.form({
    tenant: job.tenant,
    body: parsed(parts.body),
    fetchesFileUrl,
    signal,
  });
  const { contentType, bytes } = form;
  return {
    request: { path: job.endpoint, contentType, bytes, body: () => form.body() },
    wantsBase64: false,
  };
}

const json = (path: string, bytes: Buffer): PreparedLine['request'] => ({
  path,
  contentType: 'application/json',
  bytes: bytes.length,
  body: () => bytes,
});

const parsed = (body: Buffer): Record<string, unknown> =>
  JSON.parse(body.toString()) as Record<string, unknown>;

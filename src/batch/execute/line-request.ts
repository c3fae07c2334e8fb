import { valueSpans } from '../../core/jobs/line-span.js';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { type AudioUpload } from './audio-upload.js';
import { InputDamaged } from '../job/input-lines.js';
import { type LineRequest } from './line-target.js';

/** The parts of an input line that execution needs; bytes of the line, nothing parsed. */
export interface LineParts {
  /** JSON text as it stands in the line. */
  readonly customIdJson: string;
  readonly body: Buffer;
}

/** @param line one that ingestion found good. @throws InputDamaged */
export function lineParts(line: Buffer): LineParts {
  const { custom_id: id, body } = valueSpans(line, ['custom_id', 'body']);
  if (!id || !body) throw new InputDamaged(`The input line has no ${id ? 'body' : 'custom_id'}.`);
  return { customIdJson: line.toString('utf8', id.start, id.end), body: line.subarray(body.start, body.end) };
}

/** What is sent, and what the answer's treatment needs to know. */
export interface PreparedLine {
  readonly request: Pick<LineRequest, 'path' | 'contentType' | 'bytes' | 'body'>;
  /** Speech: the audio belongs into the line. */
  readonly wantsBase64: boolean;
}

const AUDIO_IN = /^\/v1\/audio\/(transcriptions|translations)$/;
export const isSpeech = ({ endpoint }: BatchJob): boolean => endpoint === '/v1/audio/speech';

export interface Preparation {
  readonly job: BatchJob;
  readonly parts: LineParts;
  readonly audio: AudioUpload;
  readonly takesFileUrl: boolean;
  readonly signal: AbortSignal;
}

/** Bodies go as they are, byte for byte; audio becomes a form; speech loses the field that is ours. @throws LineProblem */
export function prepareLine(preparation: Preparation): PreparedLine | Promise<PreparedLine> {
  const { job, parts } = preparation;
  if (AUDIO_IN.test(job.endpoint)) return withForm(preparation);
  if (!isSpeech(job)) return { request: json(job.endpoint, parts.body), wantsBase64: false };
  const { response_encoding: encoding, ...body } = parsed(parts.body);
  return { request: json(job.endpoint, Buffer.from(JSON.stringify(body))), wantsBase64: encoding === 'base64' };
}

async function withForm({ job, parts, audio, takesFileUrl, signal }: Preparation): Promise<PreparedLine> {
  const form = await audio.form({ tenant: job.tenant, body: parsed(parts.body), takesFileUrl, signal });
  const { contentType, bytes } = form;
  return { request: { path: job.endpoint, contentType, bytes, body: () => form.body() }, wantsBase64: false };
}

const json = (path: string, bytes: Buffer): PreparedLine['request'] => ({
  path,
  contentType: 'application/json',
  bytes: bytes.length,
  body: () => bytes,
});

const parsed = (body: Buffer): Record<string, unknown> => JSON.parse(body.toString()) as Record<string, unknown>;

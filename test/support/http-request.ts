/** Ready-made HTTP/1.1 requests: built once per bench, written as they are. */

import { pcmWav } from './pcm-wav.js';

const BOUNDARY = 'switchyard-bench-boundary';

export interface TranscriptionUpload {
  readonly model: string;
  readonly priority: 'realtime' | 'batch';
  readonly requestId?: string;
  readonly deadlineMs?: number;
  readonly apiKey?: string;
  /** Form field `prompt`; the synthetic engine's script may read it. */
  readonly prompt?: string;
  /** A WAV file; absent: `WAV_SECONDS` of silence. */
  readonly file?: Buffer;
}

/** `POST /v1/audio/transcriptions`, as the openai SDK would send it. */
export function transcriptionRequest(upload: TranscriptionUpload): Buffer {
  const body = multipartBody(upload);
  const head = [
    'POST /v1/audio/transcriptions HTTP/1.1',
    'Host: localhost',
    `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
    `Content-Length: ${body.length}`,
    `X-Priority: ${upload.priority}`,
    ...(upload.requestId === undefined ? [] : [`X-Request-Id: ${upload.requestId}`]),
    ...(upload.deadlineMs === undefined ? [] : [`X-Deadline-Ms: ${upload.deadlineMs}`]),
    ...(upload.apiKey === undefined ? [] : [`Authorization: Bearer ${upload.apiKey}`]),
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}

/** A request without a body. */
export function plainRequest(method: 'GET' | 'POST', path: string): Buffer {
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`);
}

export const WAV_SECONDS = 0.1;
const SAMPLE_RATE = 16_000;

/**
 * 16 kHz mono s16: 3,244 bytes, small enough that the bench measures scheduling
 * and not copying.
 */
export function silentWav(): Buffer {
  return pcmWav(Buffer.alloc(WAV_SECONDS * SAMPLE_RATE * 2), SAMPLE_RATE);
}

function multipartBody(upload: TranscriptionUpload): Buffer {
  const field = (name: string, value: string): string =>
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const fields =
    field('model', upload.model) +
    (upload.prompt === undefined ? '' : field('prompt', upload.prompt));
  const fileHead =
    `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="audio.wav"\r\n` +
    'Content-Type: audio/wav\r\n\r\n';
  const { file = silentWav() } = upload;
  return Buffer.concat([
    Buffer.from(fields + fileHead),
    file,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
}

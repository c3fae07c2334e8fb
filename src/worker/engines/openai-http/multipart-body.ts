import { randomUUID } from 'node:crypto';
import { type RequestBody } from './upstream-exchange.js';

export interface UploadForm {
  readonly file: Uint8Array;
  readonly filename: string;
  /** A name may come more than once. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** `multipart/form-data` around the untouched upload: 25 MB are referred to, not copied, and the length is known beforehand. */
export function multipartBody({ file, filename, fields }: UploadForm): RequestBody {
  const boundary = `switchyard-${randomUUID()}`;
  const parts = fields.map(([name, value]) => `${header(boundary, name)}\r\n\r\n${value}\r\n`);
  const fileHeader = `${header(boundary, 'file')}; filename="${quoted(filename || 'audio')}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    parts: [Buffer.from(parts.join('') + fileHeader), file, Buffer.from(`\r\n--${boundary}--\r\n`)],
  };
}

const header = (boundary: string, name: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;

/** As browsers do it (WHATWG "multipart/form-data encoding algorithm"): a name cannot end its own quotes or line. */
const quoted = (text: string): string => text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22');

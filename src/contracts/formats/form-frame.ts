import { randomUUID } from 'node:crypto';

/** A name may come more than once. */
export type FormField = readonly [name: string, value: string];

/**
 * `multipart/form-data` around a file that is referred to, not copied: the length is
 * known before it is sent.
 * @returns what stands before and after the bytes of the one file; without a file, the
 *   whole form
 */
export function formFrame(fields: readonly FormField[], filename?: string) {
  const boundary = `switchyard-${randomUUID()}`;
  const header = (name: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
  const parts = fields.map(([name, value]) => `${header(name)}\r\n\r\n${value}\r\n`);
  if (filename !== undefined)
    parts.push(`${header('file')}; filename="${quoted(filename)}"\r\n${FILE_TYPE}\r\n\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    head: Buffer.from(parts.join('')),
    tail: Buffer.from(`${filename === undefined ? '' : '\r\n'}--${boundary}--\r\n`),
  };
}

const FILE_TYPE = 'Content-Type: application/octet-stream';

/**
 * As browsers do it (WHATWG "multipart/form-data encoding algorithm"): a name cannot end
 * its own quotes or line.
 */
const quoted = (text: string) =>
  text.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22');

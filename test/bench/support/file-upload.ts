import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';

const BOUNDARY = 'switchyard-bench-upload';

export interface FileUpload {
  readonly port: number;
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * A transcription of a file of any size, sent as it is read; resolves with the answer's
 * body. @throws Error for a status but 200.
 */
export async function uploadFile({ port, path, fields }: FileUpload): Promise<string> {
  const head = Object.entries(fields).map(
    ([name, value]) => `${part(`name="${name}"`)}\r\n\r\n${value}\r\n`,
  );
  const before = Buffer.from(
    `${head.join('')}${part(`name="file"; filename="${basename(path)}"`)}\r\n\r\n`,
  );
  const after = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);
  const { size } = await stat(path);
  const headers = {
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'content-length': before.length + size + after.length,
  };
  const sent = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/v1/audio/transcriptions',
    headers,
  });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.write(before);
  await pipeline(createReadStream(path), sent, { end: false });
  sent.end(after);
  const [answer] = await answered;
  const pieces: Buffer[] = [];
  for await (const piece of answer as AsyncIterable<Buffer>) pieces.push(piece);
  const body = Buffer.concat(pieces).toString();
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${body}`);
  return body;
}

const part = (disposition: string): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}`;

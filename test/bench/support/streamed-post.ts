import { connect } from 'node:net';

export interface Streamed {
  /** When each part of the body came. */
  readonly timesMs: readonly number[];
  /** Its last parts. */
  readonly tail: string;
}

const OK = Buffer.from('HTTP/1.1 200');
const HEAD_END = Buffer.from('\r\n\r\n');
/**
 * With the end of the chunk before it: a head may end with `max=100` and an empty line.
 */
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const KEPT = 4;

/**
 * One streamed answer, of which no more than the end is looked at. With `fetch` the
 * callers of a bench took a third of what a server takes to answer them, on the same few
 * cores. A connection for each request: llama.cpp's server closes them after a stream,
 * and a close that crosses the next request would be nobody's fault.
 */
export function streamedPost(url: string, body: object): Promise<Streamed> {
  const { hostname, port, host, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const bytes = Buffer.from(JSON.stringify(body));
  const head = [`POST ${pathname} HTTP/1.1`, `host: ${host}`, 'content-type: application/json'];
  socket.write(`${head.join('\r\n')}\r\ncontent-length: ${bytes.length}\r\n\r\n`);
  socket.write(bytes);
  const timesMs: number[] = [];
  let parts: Buffer[] = [];
  return new Promise<Streamed>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () =>
      reject(new Error(`The connection ended within an answer: ${textOf(parts)}`)),
    );
    socket.on('data', data => {
      const isHead = parts.length === 0;
      if (isHead && !data.subarray(0, OK.length).equals(OK))
        reject(new Error(`Refused: ${textOf([data])}`));
      parts = [...parts.slice(1 - KEPT), data];
      if (!(isHead && endsWith(data, HEAD_END))) timesMs.push(performance.now());
      // The last chunk may come in two.
      if (endsWith(data.length < LAST_CHUNK.length ? Buffer.concat(parts) : data, LAST_CHUNK))
        resolve({ timesMs, tail: textOf(parts) });
    });
  }).finally(() => socket.destroy());
}

const textOf = (parts: readonly Buffer[]): string => Buffer.concat(parts).toString();

const endsWith = (data: Buffer, end: Buffer): boolean => data.subarray(-end.length).equals(end);

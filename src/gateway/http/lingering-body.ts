import { type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** How long and how much of a refused upload is thrown away before the connection is cut. */
const LINGER_MS = 2000;
const LINGER_BYTES = 64 * 1_048_576;

/** A body was announced and has not come to its end. */
export function hasUnreadBody(message: IncomingMessage): boolean {
  const announced = Number(message.headers['content-length'] ?? 0) > 0 || 'transfer-encoding' in message.headers;
  return announced && !message.readableEnded;
}

/**
 * `body`, with an end that comes late. A socket closed while the peer still sends is reset, and the reset can overtake
 * the answer: the client would see a broken pipe instead of its 413. So the bytes go out at once (Content-Length tells
 * that they are all), and the connection ends when the peer has stopped, or after 2 s or 64 MiB more.
 */
export function lingeringBody(body: Buffer, message: IncomingMessage): Readable {
  let discarded = 0;
  const answer = new Readable({ read: () => undefined });
  const end = () => {
    clearTimeout(timer);
    message.off('end', end).off('close', end).off('data', count);
    if (!answer.destroyed && !answer.readableEnded) answer.push(null);
  };
  const count = (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > LINGER_BYTES) end();
  };
  const timer = setTimeout(end, LINGER_MS).unref();
  answer.push(body);
  message.unpipe();
  message.once('end', end).once('close', end).on('data', count).resume();
  if (message.destroyed || message.readableEnded) end();
  return answer;
}

import { connect, type Socket } from 'node:net';

export interface HttpReply {
  /** 0 when the connection broke before a whole answer came. */
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
  /** `performance.now()` when its first bytes came; 0: none did. */
  readonly firstMs: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/**
 * One keep-alive HTTP/1.1 connection that writes ready-made bytes and reads one answer at
 * a time. It does what the benches need at a third of the CPU of `node:http`: on a small
 * machine the generator must not be what is measured.
 */
export class HttpConnection {
  readonly #port: number;
  #socket: Socket | undefined;
  #received: Buffer[] = [];
  #firstMs = 0;
  #onReply: ((reply: HttpReply) => void) | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  get busy(): boolean {
    return this.#onReply !== undefined;
  }

  /**
   * Sends `request` as it is; one at a time. Never rejects: a broken connection is an
   * answer with status 0.
   */
  exchange(request: Buffer): Promise<HttpReply> {
    if (this.busy) throw new Error('one request at a time per connection');
    return new Promise(resolve => {
      this.#onReply = resolve;
      this.#firstMs = 0;
      this.#open().write(request);
    });
  }

  /**
   * Leaves without a goodbye, as a client that was killed does. The pending exchange
   * answers status 0.
   */
  destroy(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.destroy();
    this.#reply({ status: 0, head: '', body: Buffer.alloc(0), firstMs: this.#firstMs });
  }

  #open(): Socket {
    if (this.#socket !== undefined) return this.#socket;
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    const gone = (): void => {
      if (socket === this.#socket) this.destroy();
    };
    socket.on('data', data => this.#read(data)).on('error', gone);
    socket.on('close', gone);
    this.#received = [];
    this.#socket = socket;
    return socket;
  }

  #read(data: Buffer): void {
    if (this.#firstMs === 0) this.#firstMs = performance.now();
    this.#received.push(data);
    const bytes = this.#received.length === 1 ? data : Buffer.concat(this.#received);
    const reply = parseReply(bytes);
    if (reply === undefined) {
      this.#received = [bytes];
      return;
    }
    this.#received = [];
    if (/\r\nconnection: close/i.test(reply.head)) {
      this.#socket?.destroy();
      this.#socket = undefined;
    }
    this.#reply({ ...reply, firstMs: this.#firstMs });
  }

  #reply(reply: HttpReply): void {
    const onReply = this.#onReply;
    this.#onReply = undefined;
    onReply?.(reply);
  }
}

const headerPatterns = new Map<string, RegExp>();

/** Value of a header of the answer, or undefined. */
export function replyHeader(reply: HttpReply, name: string): string | undefined {
  let pattern = headerPatterns.get(name);
  if (!pattern) headerPatterns.set(name, (pattern = new RegExp(`\\r\\n${name}: ([^\\r]*)`, 'i')));
  return pattern.exec(reply.head)?.[1];
}

/**
 * A whole answer, or undefined while bytes are missing. Chunked bodies are kept as sent.
 */
function parseReply(bytes: Buffer): Omit<HttpReply, 'firstMs'> | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const body = bytes.subarray(headEnd + HEAD_END.length);
  return bodyComplete(head, body) ? { status: Number(head.slice(9, 12)), head, body } : undefined;
}

function bodyComplete(head: string, body: Buffer): boolean {
  const declared = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (declared !== undefined) return body.length >= Number(declared);
  return (
    !/\r\ntransfer-encoding: chunked/i.test(head) ||
    body.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
  );
}

import { once } from 'node:events';
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
  /** True when the server ended the connection. */
  readonly closed: boolean;
}

/** Bytes on a socket, for requests that no HTTP client would send. */
export class RawHttp {
  #received = '';
  #ended = false;
  readonly #waiters = new Set<() => void>();

  private constructor(readonly socket: Socket) {
    const wake = () => this.#waiters.forEach(waiter => waiter());
    socket.on('data', chunk => {
      this.#received += chunk.toString('latin1');
      wake();
    });
    const end = () => {
      this.#ended = true;
      wake();
    };
    socket.on('end', end).on('close', end);
    socket.on('error', () => undefined);
  }

  /** @param options `allowHalfOpen`: a peer that never closes its own side */
  static async open(
    port: number,
    options: Pick<TcpNetConnectOpts, 'allowHalfOpen'> = {},
  ): Promise<RawHttp> {
    const socket = connect({ port, host: '127.0.0.1', ...options });
    await once(socket, 'connect');
    return new RawHttp(socket);
  }

  send(...lines: readonly string[]): void {
    this.socket.write(lines.join('\r\n'), 'latin1');
  }

  /**
   * The first whole answer; waits for the end of the connection too when `untilClosed`.
   */
  async answer(untilClosed = false): Promise<RawAnswer> {
    await this.#until(() => this.#ended || (!untilClosed && this.#isWhole()));
    const [head = '', ...rest] = this.#received.split('\r\n\r\n');
    return {
      status: Number(head.split(' ')[1]),
      head: head.toLowerCase(),
      body: rest.join('\r\n\r\n'),
      closed: this.#ended,
    };
  }

  /** The head of an answer without a body, such as 101. */
  async head(): Promise<Pick<RawAnswer, 'status' | 'head'>> {
    await this.#until(() => this.#ended || this.#received.includes('\r\n\r\n'));
    const head = this.#received.split('\r\n\r\n', 1)[0] ?? '';
    return { status: Number(head.split(' ')[1]), head: head.toLowerCase() };
  }

  #isWhole(): boolean {
    const [head = '', body] = this.#received.split('\r\n\r\n');
    const length = /content-length: (\d+)/i.exec(head)?.[1];
    return body !== undefined && length !== undefined && body.length >= Number(length);
  }

  async #until(condition: () => boolean): Promise<void> {
    if (condition()) return;
    await new Promise<void>(resolve => {
      const waiter = () => {
        if (!condition()) return;
        this.#waiters.delete(waiter);
        resolve();
      };
      this.#waiters.add(waiter);
    });
  }
}

export const BOUNDARY = 'b0undary';

export const multipartHead = (...extra: readonly string[]): string[] => [
  'POST /v1/audio/transcriptions HTTP/1.1',
  'Host: localhost',
  `Content-Type: multipart/form-data; boundary=${BOUNDARY}`,
  ...extra,
  '',
  '',
];

export const filePartHead = (): string =>
  [`--${BOUNDARY}`, 'Content-Disposition: form-data; name="file"; filename="a.wav"', '', ''].join(
    '\r\n',
  );

/** One piece of a chunked body. */
export const chunk = (text: string): string =>
  `${Buffer.byteLength(text, 'latin1').toString(16)}\r\n${text}\r\n`;

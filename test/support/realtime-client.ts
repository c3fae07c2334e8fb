import { type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { type ClientOptions, WebSocket } from 'ws';

export interface RealtimeEvent {
  readonly type: string;
  readonly event_id: string;
  // The fields differ by type; specs look at those they name.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly [field: string]: any;
}

export const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

/** The handshake was answered, and not by an upgrade. */
export class HandshakeRefused extends Error {
  constructor(
    readonly status: number,
    readonly headers: Headers,
    readonly text: string,
  ) {
    super(`the handshake was answered ${status} ${text}`);
  }
}

/** 101, or the status that the opening request is refused with. */
export function handshakeStatus(
  url: string,
  headers: Record<string, string>,
  protocols: string[] = [],
): Promise<number> {
  const address = `${url.replace(/^http/, 'ws')}/v1/realtime`;
  const socket = new WebSocket(address, protocols, { headers });
  return new Promise(resolve => {
    socket.on('error', () => undefined);
    socket.on('unexpected-response', (_request, { statusCode = 0 }) => resolve(statusCode));
    socket.on('open', () => {
      resolve(101);
      socket.close(1000);
    });
  });
}

/**
 * A plain client of `/v1/realtime` that keeps every event and waits for those
 * a spec names.
 */
export class RealtimeClient {
  readonly events: RealtimeEvent[] = [];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  #seen = 0;
  #changed: () => void = () => undefined;

  private constructor(readonly socket: WebSocket) {
    socket.on('message', data => {
      this.events.push(JSON.parse((data as Buffer).toString()) as RealtimeEvent);
      this.#changed();
    });
    socket.on('error', () => undefined);
    this.closed = new Promise(resolve =>
      socket.once('close', (code, reason) => {
        resolve({ code, reason: reason.toString() });
        this.#changed();
      }),
    );
  }

  /**
   * @param url of the gateway, http
   * @throws HandshakeRefused; the error of a connection that there is none of
   */
  static async open(
    url: string,
    query: Record<string, string> = {},
    options: ClientOptions = {},
  ): Promise<RealtimeClient> {
    const address = `${url.replace(/^http/, 'ws')}/v1/realtime?${new URLSearchParams(query).toString()}`;
    const client = new RealtimeClient(new WebSocket(address, options));
    await client.#opened();
    return client;
  }

  async #opened(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage | undefined>();
    this.socket.once('open', () => resolve(undefined)).once('error', reject);
    this.socket.once('unexpected-response', (_request, answer) => resolve(answer));
    const answer = await promise;
    if (!answer) return;
    const said = await text(answer);
    this.socket.terminate();
    const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)]);
    throw new HandshakeRefused(
      answer.statusCode ?? 0,
      new Headers(headers as [string, string][]),
      said,
    );
  }

  /**
   * A session of the synthetic engine at 16 kHz, where audio is the text that is heard,
   * without voice activity.
   */
  static async synthetic(
    url: string,
    input: object = {},
    options: ClientOptions = {},
  ): Promise<RealtimeClient> {
    const client = await RealtimeClient.open(url, { model: 'synthetic' }, options);
    client.update({
      format: { type: 'audio/pcm', rate: 16_000 },
      turn_detection: null,
      ...input,
    });
    await client.next('session.updated');
    return client;
  }

  send(event: object | string): void {
    this.socket.send(typeof event === 'string' ? event : JSON.stringify(event));
  }

  update(input: object): void {
    this.send({
      type: 'session.update',
      session: { type: 'transcription', audio: { input } },
    });
  }

  /** A binary frame. */
  say(audio: string | Buffer): void {
    this.socket.send(Buffer.from(audio as string));
  }

  append(audio: string | Buffer): void {
    this.send({
      type: 'input_audio_buffer.append',
      audio: Buffer.from(audio as string).toString('base64'),
    });
  }

  commit(): void {
    this.send({ type: 'input_audio_buffer.commit' });
  }

  /**
   * The next event of that type after the last one asked for. Rejects when the
   * connection closes first.
   */
  async next(type: string): Promise<RealtimeEvent> {
    for (;;) {
      const at = this.events.findIndex(
        (event, index) => index >= this.#seen && event.type === type,
      );
      if (at >= 0) {
        this.#seen = at + 1;
        return this.events[at]!;
      }
      if (this.socket.readyState >= WebSocket.CLOSING && (await this.#settled()))
        throw new Error(`closed before ${type}; heard ${this.types().join(', ')}`);
      await new Promise<void>(resolve => (this.#changed = resolve));
    }
  }

  types(): string[] {
    return this.events.map(({ type }) => type);
  }

  /** The final texts, in order. */
  transcripts(): string[] {
    return this.events
      .filter(({ type }) => type === `${TRANSCRIPTION}.completed`)
      .map(event => String(event.transcript));
  }

  /** Cuts the connection without a word. */
  drop(): void {
    this.socket.terminate();
  }

  async #settled(): Promise<boolean> {
    await this.closed;
    return true;
  }
}

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { type LiveDelta, type LiveEntry } from '../../src/contracts/events/live-event.js';

/** Socket.IO's packet of one event in the namespace of the live feed. */
const DELTA = '42/events,["delta",';
const STEP_MS = 10;
const KEPT = 500;

/**
 * A gateway behind another port. Everything passes unchanged; besides, `replay`
 * sends pages deltas that came from the gateway once more, as those of a second
 * gateway, at any rate.
 */
export class FeedProxy implements AsyncDisposable {
  readonly #server = createServer((asked, answer) => this.#pass(asked, answer));
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #recorded: LiveDelta[] = [];
  readonly #seq = new Map<string, number>();

  private constructor(private readonly target: string) {
    this.#server.on('upgrade', (asked, socket, head) =>
      this.#sockets.handleUpgrade(asked, socket, head, page => this.#join(page, asked)),
    );
  }

  static async start(target: string): Promise<FeedProxy> {
    const proxy = new FeedProxy(target);
    await new Promise<void>(resolve => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * @returns how many deltas were sent in `ms`; one by one, each with
   *   another completed request
   */
  async replay(perS: number, ms: number): Promise<number> {
    const startMs = performance.now();
    for (let sent = 0; ;) {
      const passedMs = Math.min(performance.now() - startMs, ms);
      for (const due = Math.floor((passedMs * perS) / 1000); sent < due; sent += 1)
        this.#send(sent);
      if (passedMs === ms) return sent;
      await new Promise(resolve => setTimeout(resolve, STEP_MS));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const page of this.#sockets.clients) page.terminate();
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }

  #send(nth: number): void {
    const { room, set, removed } = this.#recorded[nth % this.#recorded.length]!;
    const seq = (this.#seq.get(room) ?? 0) + 1;
    this.#seq.set(room, seq);
    const counted = Object.entries(set).map(([key, entry]) => [
      key,
      { ...entry, ...(room === 'queue' && later(nth)) },
    ]);
    const delta: LiveDelta = {
      room,
      source: 'gw_replay',
      seq,
      set: Object.fromEntries(counted),
      removed,
    };
    for (const page of this.#sockets.clients) page.send(`${DELTA}${JSON.stringify(delta)}]`);
  }

  #pass(asked: IncomingMessage, answer: ServerResponse): void {
    const { method, headers, url = '' } = asked;
    const passed = request(this.target + url, { method, headers }, reply => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  }

  /**
   * The server speaks first, so nothing of the page comes before the gateway's
   * socket is open.
   */
  #join(
    page: WebSocket,
    { url = '', headers: { cookie = '', origin = '', host = '' } }: IncomingMessage,
  ): void {
    const gateway = new WebSocket(this.target.replace('http', 'ws') + url, {
      headers: { cookie, origin, host },
    });
    gateway.on('message', (data: RawData) => {
      const text = textOf(data);
      if (text.startsWith(DELTA) && this.#recorded.length < KEPT)
        this.#recorded.push(JSON.parse(text.slice(DELTA.length, -1)) as LiveDelta);
      page.send(text);
    });
    page.on('message', (data: RawData) => gateway.send(textOf(data)));
    gateway.on('close', () => page.terminate()).on('error', () => page.terminate());
    page.on('close', () => gateway.terminate());
  }
}

const later = (nth: number): Partial<LiveEntry> => ({ completed: nth });

const textOf = (data: RawData): string => (data as Buffer).toString('utf8');

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** One chat as the server saw it. */
export interface ServedChat {
  /** What was said. */
  readonly said: string;
  readonly fromMs: number;
  endMs: number;
}

/**
 * A server of chats that counts what it has at the same time. Each takes `holdMs`, or as long as
 * its last word says; what is said comes back. A caller that leaves ends its chat.
 */
export class CountingServer implements AsyncDisposable {
  readonly chats: ServedChat[] = [];
  holdMs: number;
  most = 0;
  #running = 0;

  private constructor(
    private readonly server: Server,
    holdMs: number,
  ) {
    this.holdMs = holdMs;
    server.on('request', (request, response) => void this.#serve(request, response));
  }

  static async start(holdMs: number): Promise<CountingServer> {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return new CountingServer(server, holdMs);
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  get running(): number {
    return this.#running;
  }

  /** Chats at the same time on average, between two instants. */
  average(fromMs: number, toMs: number): number {
    const sum = this.chats.reduce(
      (total, chat) =>
        total + Math.max(0, Math.min(chat.endMs, toMs) - Math.max(chat.fromMs, fromMs)),
      0,
    );
    return sum / (toMs - fromMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    await new Promise(resolve => this.server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST')
      return void response.end(JSON.stringify({ data: [{ id: 'm' }] }));
    const { messages, stream } = (await json(request)) as {
      messages: { content: string }[];
      stream?: boolean;
    };
    const said = messages.at(-1)!.content;
    const chat = { said, fromMs: performance.now(), endMs: Infinity };
    this.chats.push(chat);
    this.#running += 1;
    this.most = Math.max(this.most, this.#running);
    const left = new AbortController();
    response.once('close', () => left.abort());
    const holdMs = Number(/ (\d+)ms$/.exec(said)?.[1] ?? this.holdMs);
    await sleep(holdMs, undefined, { signal: left.signal }).catch(() => undefined);
    // Before the answer: whoever has it may send the next one.
    this.#running -= 1;
    chat.endMs = performance.now();
    if (stream) streamed(response, said);
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(said)));
  }
}

const HEAD = { id: 'c', created: 1, model: 'm' };
const USAGE = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

const answer = (content: string) => ({
  ...{ ...HEAD, object: 'chat.completion', usage: USAGE },
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
});

function streamed(response: ServerResponse, content: string): void {
  const chunk = (choice: object) =>
    `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices: [choice] })}\n\n`;
  response.setHeader('content-type', 'text/event-stream');
  response.write(chunk({ index: 0, delta: { role: 'assistant', content } }));
  response.write(chunk({ index: 0, delta: {}, finish_reason: 'stop' }));
  response.end('data: [DONE]\n\n');
}

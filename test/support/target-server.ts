import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { type AddressInfo } from 'node:net';

export interface TargetCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** From 1, over all calls of this server. */
  readonly number: number;
}

export interface TargetReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The connection breaks instead of an answer. */
  readonly reset?: boolean;
}

export type TargetScript = (call: TargetCall) => TargetReply | Promise<TargetReply>;

/** An inference server that does what the test says; it remembers every call. */
export class TargetServer implements AsyncDisposable {
  readonly calls: TargetCall[] = [];
  /** Most calls in flight at the same time. */
  peak = 0;
  #inFlight = 0;
  #server: Server | undefined;

  private constructor(
    private script: TargetScript,
    private readonly scheme: 'http' | 'https',
  ) {}

  /** @param tls its certificate, and whose it wants to see; absent: in clear */
  static async start(
    script: TargetScript = echoAnswer,
    tls?: ServerOptions,
  ): Promise<TargetServer> {
    const target = new TargetServer(script, tls ? 'https' : 'http');
    const serve = (request: IncomingMessage, response: ServerResponse) =>
      void target.#serve(request, response);
    target.#server = tls ? createTlsServer(tls, serve) : createServer(serve);
    await new Promise<void>(listening => target.#server!.listen(0, '127.0.0.1', listening));
    return target;
  }

  get url(): string {
    return `${this.scheme}://127.0.0.1:${(this.#server!.address() as AddressInfo).port}`;
  }

  answer(script: TargetScript): void {
    this.script = script;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server!.closeAllConnections();
    await new Promise(closed => this.#server!.close(closed));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.peak = Math.max(this.peak, ++this.#inFlight);
    response.on('close', () => (this.#inFlight -= 1));
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    } catch {
      return; // the caller was killed
    }
    const { url: path = '', headers } = request;
    const call = {
      path,
      headers,
      body: Buffer.concat(chunks),
      number: this.calls.length + 1,
    };
    this.calls.push(call);
    const { status = 200, headers: more = {}, body = '{}', reset } = await this.script(call);
    if (reset) return void request.socket.destroy();
    response.writeHead(status, { 'content-type': 'application/json', ...more }).end(body);
  }
}

/** A chat completion that says what it was asked, and uses 3 + 2 tokens. */
export const echoAnswer: TargetScript = ({ body }) => {
  const { model, messages } = JSON.parse(body.toString()) as {
    model: string;
    messages?: { content: unknown }[];
  };
  const content = messages?.at(-1)?.content ?? '';
  return {
    body: JSON.stringify({
      model,
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    }),
  };
};

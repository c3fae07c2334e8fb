import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { speechOf, transcriptOf } from './openai-upstream-answers.js';
import { answerText, embeddingsOf, scoresOf } from './openai-upstream-text.js';

/** What the next POST gets instead of its ordinary answer. */
export type UpstreamStep =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: http.OutgoingHttpHeaders;
      readonly body?: string;
    }
  /** An answer of 200 with exactly this body. */
  | { readonly kind: 'body'; readonly type: string; readonly body: string | Buffer }
  /** The ordinary answer, `ms` later. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Takes the request, never answers. */
  | { readonly kind: 'hang' }
  /** Cuts the connection: before the answer, or after its first bytes. */
  | { readonly kind: 'cut'; readonly after: 'request' | 'head' }
  /**
   * PCM, or what `type` says, in parts, each one sent when `go()` of the call is called;
   * then cut off or ended.
   */
  | {
      readonly kind: 'parts';
      readonly parts: readonly (Buffer | string)[];
      readonly type?: string;
      readonly cut?: true;
    }
  /** PCM of silence without an end, as fast as it is read. */
  | { readonly kind: 'endless' };

/** A promise that is resolved from outside, once. */
class Gate<T = void> {
  open!: (value: T) => void;
  readonly passed = new Promise<T>(resolve => (this.open = resolve));
}

/** One request as it came in. */
export class SeenCall {
  readonly received = new Gate();
  /**
   * Resolves when the connection of this exchange is over; `early`: before the
   * answer was complete.
   */
  readonly closed = new Gate<{ readonly early: boolean }>();
  body = Buffer.alloc(0);
  #gate = new Gate();

  constructor(
    readonly method: string,
    readonly path: string,
    readonly headers: http.IncomingHttpHeaders,
    private readonly response: http.ServerResponse,
  ) {
    this.peerPort = response.socket?.remotePort;
  }

  /** Tells connections apart. */
  readonly peerPort: number | undefined;

  /** Bytes of the answer that the network has taken, or that wait for it. */
  get sent(): number {
    return this.response.socket?.bytesWritten ?? 0;
  }

  /** Lets the next part of a scripted answer out. */
  go(): void {
    this.#gate.open();
  }

  async passed(): Promise<void> {
    await this.#gate.passed;
    this.#gate = new Gate();
  }

  form(): Promise<FormData> {
    return new Response(this.body, {
      headers: { 'content-type': this.headers['content-type']! },
    }).formData();
  }

  json(): Record<string, unknown> {
    return JSON.parse(this.body.toString()) as Record<string, unknown>;
  }
}

export interface UpstreamOptions {
  /** PEM; makes it https. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Names that `GET /models` lists; undefined: no such route. */
  readonly models?: readonly string[];
  /** The bearer key it wants. */
  readonly key?: string;
  /** Absent: any free port. */
  readonly port?: number;
  /** From the arrival of a POST until its ordinary answer, milliseconds; absent: none. */
  readonly delayMs?: number;
}

/**
 * An OpenAI-compatible server on a real port, without a model: it answers by rule,
 * or as scripted.
 */
export class OpenAiUpstream implements AsyncDisposable {
  readonly calls: SeenCall[] = [];
  /** Most POSTs at the same time. */
  peak = 0;
  #active = 0;
  readonly #script: UpstreamStep[] = [];
  readonly #waiting: (() => void)[] = [];

  private constructor(
    private readonly server: http.Server,
    private readonly options: UpstreamOptions,
  ) {
    server.on('request', (request, response) => void this.#serve(request, response));
  }

  static async start(options: UpstreamOptions = {}): Promise<OpenAiUpstream> {
    const server = options.tls ? https.createServer(options.tls) : http.createServer();
    server.listen(options.port ?? 0, '127.0.0.1');
    await once(server, 'listening');
    return new OpenAiUpstream(server, options);
  }

  get baseUrl(): string {
    const { port } = this.server.address() as AddressInfo;
    return `${this.options.tls ? 'https' : 'http'}://127.0.0.1:${port}/v1`;
  }

  /** For the next POSTs, in order. */
  script(...steps: readonly UpstreamStep[]): void {
    this.#script.push(...steps);
  }

  /** Takes the next step of the script back; false when there is none. */
  takeScripted(): boolean {
    return this.#script.shift() !== undefined;
  }

  get posts(): readonly SeenCall[] {
    return this.calls.filter(({ method }) => method === 'POST');
  }

  /** Resolves with the POST of that number, from 0, once its body has arrived. */
  async post(index: number): Promise<SeenCall> {
    while (this.posts.length <= index)
      await new Promise<void>(resolve => this.#waiting.push(resolve));
    const call = this.posts[index]!;
    await call.received.passed;
    return call;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close').catch(() => undefined);
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const call = new SeenCall(request.method!, request.url!, request.headers, response);
    this.calls.push(call);
    for (const wake of this.#waiting.splice(0)) wake();
    response.on('close', () => call.closed.open({ early: !response.writableFinished }));
    response.on('error', () => undefined);
    if (call.method === 'POST') this.#entered(response);
    const step = call.method === 'POST' ? this.#script.shift() : undefined;
    try {
      call.body = Buffer.concat(await request.toArray());
      call.received.open();
      if (step) await play(step, call, response);
      if (!step || step.kind === 'slow') await this.#answer(call, response);
    } catch {
      response.destroy();
    }
  }

  #entered(response: http.ServerResponse): void {
    this.peak = Math.max(this.peak, ++this.#active);
    response.on('close', () => this.#active--);
  }

  async #answer(call: SeenCall, response: http.ServerResponse): Promise<void> {
    const { key, models, delayMs = 0 } = this.options;
    if (call.method === 'POST' && delayMs > 0) await sleep(delayMs);
    if (key !== undefined && call.headers.authorization !== `Bearer ${key}`) {
      return sendError(response, 401, {
        message: `Incorrect API key provided: ${call.headers.authorization}.`,
      });
    }
    switch (`${call.method} ${call.path}`) {
      case 'GET /v1/models':
        if (!models) break;
        return sendJson(response, {
          object: 'list',
          data: models.map(id => ({ id, created: 1_714_521_600 })),
        });
      // For whoever runs it in another process.
      case 'GET /v1/peak':
        return sendJson(response, { peak: this.peak });
      case 'POST /v1/audio/transcriptions':
      case 'POST /v1/audio/translations':
        return answerTranscript(await call.form(), call, response);
      case 'POST /v1/audio/speech':
        return speak(speechOf(call.json()), call, response);
      case 'POST /v1/chat/completions':
      case 'POST /v1/completions':
        if (call.body.includes('FAIL'))
          return sendError(response, 400, { message: 'Too long.', param: 'messages' });
        return answerText(call.json(), call.path.includes('chat'), response);
      case 'POST /v1/embeddings':
        if (call.body.includes('ENDLESS')) return;
        if (call.body.includes('FAIL'))
          return sendError(response, 400, { message: 'Too long.', param: 'input' });
        return sendJson(response, embeddingsOf(call.json()));
      case 'POST /tokenize':
        return sendJson(response, { tokens: [1, 2], count: 2, asked: call.json() });
      case 'POST /v1/rerank':
        return sendJson(response, scoresOf(call.json()));
    }
    sendError(response, 404, { message: `Invalid URL (${call.method} ${call.path})` });
  }
}

async function play(
  step: UpstreamStep,
  call: SeenCall,
  response: http.ServerResponse,
): Promise<void> {
  switch (step.kind) {
    case 'status':
      response.writeHead(step.status, step.headers).end(step.body ?? '');
      return;
    case 'body':
      response.writeHead(200, { 'content-type': step.type }).end(step.body);
      return;
    case 'slow':
      return sleep(step.ms);
    case 'hang':
      return;
    case 'cut':
      if (step.after === 'head')
        await new Promise(sent => response.writeHead(200).write('{"text": "half', sent));
      response.destroy();
      return;
    case 'parts':
      response.writeHead(200, { 'content-type': step.type ?? 'audio/pcm' }).flushHeaders();
      for (const part of step.parts) {
        await call.passed();
        await new Promise(sent => response.write(part, sent));
      }
      if (step.cut) response.destroy();
      else response.end();
      return;
    case 'endless':
      return speak(silence(), call, response);
  }
}

async function answerTranscript(
  form: FormData,
  call: SeenCall,
  response: http.ServerResponse,
): Promise<void> {
  const heard = await (form.get('file') as File).text();
  if (heard === 'FAIL')
    return sendError(response, 400, { message: 'The audio is damaged.', param: 'file' });
  if (heard === 'ENDLESS') return;
  const translated = call.path.endsWith('translations');
  sendJson(response, transcriptOf(heard, { form, translated }));
}

async function speak(
  parts: Iterable<Buffer>,
  call: SeenCall,
  response: http.ServerResponse,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'audio/pcm' });
  for (const part of parts) {
    if (response.destroyed) return;
    if (!response.write(part)) await Promise.race([once(response, 'drain'), call.closed.passed]);
  }
  response.end();
}

function* silence(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(48_000);
}

function sendJson(response: http.ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function sendError(
  response: http.ServerResponse,
  status: number,
  error: Record<string, unknown>,
): void {
  sendJson(
    response,
    { error: { type: 'invalid_request_error', param: null, code: null, ...error } },
    status,
  );
}

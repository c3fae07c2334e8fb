import { createHash } from 'node:crypto';
import * as http from 'node:http';
import { type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

/** What the next request for a file gets instead of the file. */
export type HubStep =
  /**
   * The right head, then `bytes` of the body, then nothing more until `cut()`, or until
   * the client goes.
   */
  | { readonly kind: 'stall'; readonly bytes: number }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: http.OutgoingHttpHeaders;
    }
  /** 200 and these bytes, whatever was asked. */
  | { readonly kind: 'body'; readonly body: Buffer }
  /** 200 and bytes without end, until the client goes. */
  | { readonly kind: 'endless'; readonly headers?: http.OutgoingHttpHeaders };

export interface HubServerOptions {
  /** Such as `acme/tiny`. */
  readonly repository?: string;
  /** Bearer token that it wants for everything. */
  readonly token?: string;
  readonly files: Readonly<Record<string, Buffer>>;
}

export interface SeenRequest {
  readonly path: string;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  readonly authorization: string | undefined;
}

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536);
}

const sha = (algorithm: string, bytes: Buffer): string =>
  createHash(algorithm).update(bytes).digest('hex');
const gitBlob = (bytes: Buffer): string =>
  sha('sha1', Buffer.concat([Buffer.from(`blob ${bytes.length}\0`), bytes]));

/**
 * A model hub on a real port: the JSON API, files with ranges and ETags behind a
 * redirect, and faults on demand.
 */
export class HubServer implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  readonly files: Map<string, Buffer>;
  readonly repository: string;
  /** What the API says of a file, where it should differ from the truth. */
  readonly announced = new Map<
    string,
    { readonly rfilename?: unknown; readonly sha256?: string }
  >();
  #steps = new Map<string, HubStep[]>();
  #server = http.createServer((request, response) => this.#answer(request, response));
  /** Resolves with every byte that a `stall` has sent. */
  readonly stalled: Promise<void>;
  #stall!: () => void;
  readonly #halted = new Map<string, http.ServerResponse>();

  private constructor(private readonly options: HubServerOptions) {
    this.files = new Map(Object.entries(options.files));
    this.repository = options.repository ?? 'acme/tiny';
    this.stalled = new Promise(resolve => (this.#stall = resolve));
  }

  static async start(options: HubServerOptions): Promise<HubServer> {
    const hub = new HubServer(options);
    await new Promise<void>(listening => hub.#server.listen(0, '127.0.0.1', listening));
    return hub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Steps for the next requests of a file (`api` for the JSON API), one each. */
  script(path: string, ...steps: HubStep[]): void {
    this.#steps.set(path, [...(this.#steps.get(path) ?? []), ...steps]);
  }

  /** Cuts the connection of the stalled answer with a file. */
  cut(path: string): void {
    this.#halted.get(path)?.destroy();
    this.#halted.delete(path);
  }

  /** Requests for the bytes of a file. */
  downloads(path: string): SeenRequest[] {
    return this.seen.filter(seen => seen.path === `/cdn/${path}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(closed => this.#server.close(closed));
  }

  #answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '');
    const { range, authorization } = request.headers;
    this.seen.push({
      path,
      range,
      ifRange: request.headers['if-range'] as string | undefined,
      authorization,
    });
    const { token } = this.options;
    if (token !== undefined && !path.startsWith('/cdn/') && authorization !== `Bearer ${token}`) {
      return void response.writeHead(401, { 'x-error-code': 'GatedRepo' }).end();
    }
    if (path.startsWith(`/api/models/${this.repository}/revision/`)) return this.#api(response);
    const file = /\/resolve\/[^/]+\/(.+)$/.exec(path)?.[1];
    if (file !== undefined)
      return void response.writeHead(302, { location: `/cdn/${encodeURIComponent(file)}` }).end();
    if (path.startsWith('/cdn/')) return this.#file(path.slice('/cdn/'.length), request, response);
    response.writeHead(404).end();
  }

  #api(response: http.ServerResponse): void {
    const step = this.#steps.get('api')?.shift();
    if (step?.kind === 'status') return void response.writeHead(step.status, step.headers).end();
    const siblings = [...this.files].map(([rfilename, bytes]) => {
      const { sha256, ...names } = this.announced.get(rfilename) ?? {};
      const isLarge = !rfilename.endsWith('.json');
      const lfs = { sha256: sha256 ?? sha('sha256', bytes), size: bytes.length };
      return {
        rfilename,
        ...names,
        size: bytes.length,
        blobId: gitBlob(bytes),
        ...(isLarge && { lfs }),
      };
    });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: this.repository, sha: 'c0ffee', siblings }));
  }

  #file(path: string, { headers }: http.IncomingMessage, response: http.ServerResponse): void {
    const bytes = this.files.get(path);
    const step = this.#steps.get(path)?.shift();
    if (step?.kind === 'status') return void response.writeHead(step.status, step.headers).end();
    if (step?.kind === 'endless')
      return void Readable.from(endless()).pipe(response.writeHead(200, step.headers));
    if (!bytes) return void response.writeHead(404).end();
    if (step?.kind === 'body')
      return void response.writeHead(200, { 'content-length': step.body.length }).end(step.body);
    const etag = `"${sha('md5', bytes)}"`;
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    const partial = from > 0 && (headers['if-range'] === undefined || headers['if-range'] === etag);
    if (partial && from >= bytes.length) {
      return void response
        .writeHead(416, { etag, 'content-range': `bytes */${bytes.length}` })
        .end();
    }
    const body = bytes.subarray(partial ? from : 0);
    response.writeHead(partial ? 206 : 200, {
      ...{ etag, 'content-length': body.length },
      ...(partial && {
        'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
      }),
    });
    if (!step) return void response.end(body);
    this.#halted.set(path, response);
    response.write(body.subarray(0, step.bytes), () => this.#stall());
  }
}

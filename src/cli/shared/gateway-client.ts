import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { STORED_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { ownName } from '@switchyard/engine-api/own-name.js';
import { type paths } from '../../../console/src/api/schema.js';
import { loadConfig } from '../../platform/config/load-config.js';
import {
  gatewayFromEnvironment,
  GATEWAY_VARIABLES,
} from '../../platform/config/process-environment.js';
import { callableUrl } from '../../platform/http/connections.js';
import { secretIn } from './arguments.js';
import { CliError, EXIT, type ExitCode, usageError } from './cli-error.js';

export type GatewayPath = keyof paths;
export type GatewayMethod = 'get' | 'post' | 'patch' | 'delete';
type Responses<P extends GatewayPath, M extends GatewayMethod> =
  paths[P] extends Record<M, { responses: infer R }> ? R[Extract<keyof R, 200 | 201>] : never;
/** The answer of a route, as the OpenAPI document describes it. */
export type GatewayAnswer<P extends GatewayPath, M extends GatewayMethod = 'get'> =
  Responses<P, M> extends { content: { 'application/json': infer T } } ? T : never;

interface GatewayRequest {
  /** Value of the parameter in the path, such as `{id}`. */
  readonly id?: string | undefined;
  /** Undefined values are left out. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** A form, or an object that is sent as JSON. */
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** HTTP client of a running gateway. Every failure is a CliError with one sentence. */
export class GatewayClient {
  readonly url: string;
  /** Headers with the key, for connections of other kinds. */
  readonly headers: Readonly<Record<string, string>>;

  /** @param signal aborts every request */
  constructor(
    { url, apiKey, keyFile }: { url?: string; apiKey?: string; keyFile?: string },
    private readonly signal?: AbortSignal,
  ) {
    const access = gatewayFromEnvironment();
    this.url = gatewayUrl(url, access.url).replace(/\/+$/, '').replace(/\/v1$/, '');
    const key = apiKey ?? (keyFile === undefined ? access.key : secretIn(keyFile, '--key-file'));
    this.headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  }

  /** @returns the answer of a route that the OpenAPI document describes */
  call<P extends GatewayPath, M extends GatewayMethod>(
    method: M,
    path: P,
    request?: GatewayRequest,
  ): Promise<GatewayAnswer<P, M>> {
    return this.json(method, path, request);
  }

  async json<T>(method: GatewayMethod, path: string, request?: GatewayRequest): Promise<T> {
    const response = await this.request(method, path, request);
    const text = await response.text();
    try {
      return parseBoundedJson(text, STORED_BOUNDS) as T;
    } catch (cause) {
      const message = `${response.url} did not answer with JSON; is it a Switchyard gateway?`;
      throw new CliError(message, EXIT.failed, { cause });
    }
  }

  /**
   * @returns a 2xx response. @throws CliError with the gateway's message; exit code 3
   *   when it cannot be reached
   */
  async request(
    method: GatewayMethod,
    path: string,
    { id = '', query = {}, body, headers = {}, signal }: GatewayRequest = {},
  ): Promise<Response> {
    const signals = [this.signal, signal].filter(one => one !== undefined);
    const isJson = body !== undefined && !(body instanceof FormData);
    const response = await fetch(this.url + filled(path, id) + search(query), {
      // fetch itself writes only some methods in capitals.
      method: method.toUpperCase(),
      body: isJson ? writeJson(body) : body,
      headers: { ...this.headers, ...(isJson && JSON_TYPE), ...headers },
      signal: AbortSignal.any(signals),
    }).catch((error: Error) => {
      for (const each of signals) each.throwIfAborted();
      throw this.#unreachable(error);
    });
    if (response.ok) return response;
    throw await refusal(response);
  }

  #unreachable(error: Error) {
    const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
    const hint = `start one with \`${ownName()} up\`, or name another one with --url`;
    return new CliError(
      `no gateway answers at ${this.url} (${code ?? message}); ${hint}`,
      EXIT.unreachable,
      { cause: error },
    );
  }
}

const JSON_TYPE = { 'content-type': 'application/json' };

const filled = (path: string, id: string) => path.replace(/\{\w+\}/, encodeURIComponent(id));

/** The query as `?a=1&b=2`. */
function search(query: NonNullable<GatewayRequest['query']>) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given as [string, string][]).toString();
  return text && `?${text}`;
}

const STATUS_EXIT: Readonly<Record<number, ExitCode>> = {
  401: EXIT.denied,
  403: EXIT.denied,
  404: EXIT.notFound,
  429: EXIT.busy,
  503: EXIT.busy,
};

function gatewayUrl(given: string | undefined, fromEnvironment: string | undefined) {
  const url = given ?? fromEnvironment;
  if (url === undefined) {
    const { host, port } = loadConfig().settings.server;
    return callableUrl(host, port);
  }
  if (URL.canParse(url) && /^https?:/.test(url)) return url;
  const name = given === undefined ? GATEWAY_VARIABLES.url : '--url';
  throw usageError(
    `${name} must be an http or https address such as http://127.0.0.1:8080; got "${url}"`,
  );
}

/** What a response that is not 2xx says, with the exit code of its status. */
export const refusal = async (response: Response): Promise<CliError> =>
  new CliError(
    errorText(await response.text(), response),
    STATUS_EXIT[response.status] ?? EXIT.failed,
  );

/**
 * The message of OpenAI's error envelope, or the first 200 characters of any other body.
 */
function errorText(body: string, { status, headers }: Response) {
  const id = headers.get('x-request-id');
  const where = `(${status}${id ? `, ${id}` : ''})`;
  try {
    const { error } = parseBoundedJson(body) as { error: { message: string; code?: string } };
    return `${error.message} ${error.code ? `[${error.code}] ` : ''}${where}`;
  } catch {
    return `the gateway answered ${status}: ${body.slice(0, 200)} ${where}`;
  }
}

/**
 * Yields the JSON of every `data:` line of a server-sent event stream, until `[DONE]`.
 * @throws CliError for an `error` event, and when the stream does not end with `[DONE]`
 */
export async function* serverEvents<T>(response: Response): AsyncGenerator<T> {
  for await (const line of linesOf(response)) {
    if (!line.startsWith('data:')) continue;
    const data = line.slice('data:'.length).trim();
    if (data === '[DONE]') return;
    const event = parseBoundedJson(data, STORED_BOUNDS) as T & {
      error?: { message?: string; code?: string };
    };
    if (event.error) {
      const { message = 'the gateway reported an error', code } = event.error;
      throw new CliError(code ? `${message} [${code}]` : message);
    }
    yield event as Awaited<T>;
  }
  throw new CliError('the gateway ended the answer early; the output is incomplete');
}

/** The lines of a body. They end early if the connection breaks. */
async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const lines = createInterface({
    input: Readable.fromWeb(body ?? new ReadableStream()),
    crlfDelay: Infinity,
  });
  try {
    yield* lines;
  } catch {
    // The caller reports that the end is missing.
  }
}

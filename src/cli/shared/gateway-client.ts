import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { type Command } from 'commander';
import {
  gatewayFromEnvironment,
  GATEWAY_VARIABLES,
  launchDirectory,
} from '../../platform/config/process-environment.js';
import { loadConfig } from '../../platform/config/load-config.js';
import { CliError, EXIT } from './cli-error.js';

export interface GatewayClientOptions {
  readonly url?: string;
  readonly keyFile?: string;
}

/** `--url` and `--key-file`, the same for every command that talks to a gateway. */
export const withGatewayOptions = (command: Command): Command =>
  command
    .option(
      '--url <url>',
      'the gateway (default: SWITCHYARD_URL, else server.host and server.port of this configuration)',
    )
    .option('--key-file <file>', 'file that holds the API key and nothing else (default: SWITCHYARD_API_KEY)');

export interface GatewayRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: RequestInit['body'];
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** HTTP client of a running gateway. Every failure is a CliError with one sentence. */
export class GatewayClient {
  readonly url: string;
  readonly #headers: Record<string, string>;

  constructor({ url, keyFile }: GatewayClientOptions) {
    const access = gatewayFromEnvironment();
    this.url = gatewayUrl(url, access.url).replace(/\/+$/, '').replace(/\/v1$/, '');
    const key = keyFile === undefined ? access.key : readKey(keyFile);
    this.#headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  }

  /** @returns a 2xx response. @throws CliError with the gateway's message; exit code 3 when it cannot be reached */
  async request(path: string, { headers = {}, ...init }: GatewayRequest = {}): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(this.url + path, { ...init, headers: { ...this.#headers, ...headers } });
    } catch (error) {
      init.signal?.throwIfAborted();
      throw this.#unreachable(error as Error);
    }
    if (response.ok) return response;
    throw new CliError(errorText(await response.text(), response));
  }

  async json<T>(path: string, request: GatewayRequest = {}): Promise<T> {
    const text = await (await this.request(path, request)).text();
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new CliError(`${this.url}${path} did not answer with JSON; is it a Switchyard gateway?`, EXIT.failed, {
        cause,
      });
    }
  }

  #unreachable(error: Error): CliError {
    const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
    const hint = 'start one with `npm run up`, or name another one with --url';
    return new CliError(`no gateway answers at ${this.url} (${code ?? message}); ${hint}`, EXIT.unreachable, {
      cause: error,
    });
  }
}

function gatewayUrl(given: string | undefined, fromEnvironment: string | undefined): string {
  if (given !== undefined) return httpUrl(given, '--url');
  return fromEnvironment === undefined ? configuredUrl() : httpUrl(fromEnvironment, GATEWAY_VARIABLES.url);
}

function httpUrl(url: string, name: string): string {
  if (URL.canParse(url) && /^https?:/.test(url)) return url;
  throw new CliError(
    `${name} must be an http or https address such as http://127.0.0.1:8080; got "${url}"`,
    EXIT.usage,
  );
}

function configuredUrl(): string {
  const { host, port } = loadConfig().settings.server;
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function readKey(file: string): string {
  try {
    return readFileSync(resolve(launchDirectory(), file), 'utf8').trim();
  } catch (error) {
    throw new CliError(`--key-file: ${(error as Error).message}`, EXIT.usage, { cause: error });
  }
}

/** The message of OpenAI's error envelope, or the first 200 characters of any other body. */
function errorText(body: string, { status, headers }: Response): string {
  const id = headers.get('x-request-id');
  const where = `(${status}${id ? `, ${id}` : ''})`;
  try {
    const { error } = JSON.parse(body) as { error: { message: string; code?: string } };
    return `${error.message} ${error.code ? `[${error.code}] ` : ''}${where}`;
  } catch {
    return `the gateway answered ${status}: ${body.slice(0, 200)} ${where}`;
  }
}

/**
 * Yields the JSON of every `data:` line of a server-sent event stream, until `[DONE]`.
 * @throws CliError for an `error` event, and when the stream does not end with `[DONE]`
 */
export async function* serverEvents(response: Response): AsyncGenerator<Record<string, unknown>> {
  for await (const line of linesOf(response)) {
    if (!line.startsWith('data:')) continue;
    const data = line.slice('data:'.length).trim();
    if (data === '[DONE]') return;
    yield checked(JSON.parse(data) as Record<string, unknown>);
  }
  throw new CliError('the gateway ended the answer early; the output is incomplete');
}

/** Ends early where the connection breaks. */
async function* linesOf({ body }: Response): AsyncGenerator<string> {
  const lines = createInterface({ input: Readable.fromWeb(body ?? new ReadableStream()), crlfDelay: Infinity });
  try {
    yield* lines;
  } catch {
    // The caller reports that the end is missing.
  }
}

function checked(event: Record<string, unknown>): Record<string, unknown> {
  const { error } = event as { error?: { message?: string; code?: string } };
  if (!error) return event;
  throw new CliError(`${error.message ?? 'the gateway reported an error'}${error.code ? ` [${error.code}]` : ''}`);
}

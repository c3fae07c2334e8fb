import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { launchDirectory } from '../platform/config/launch-directory.js';
import { loadConfig } from '../platform/config/load-config.js';
import { CliError, EXIT } from './cli-error.js';

/** The JSON of every `data:` line of a server-sent event stream, until `[DONE]`. @throws CliError for an `error` event */
export async function* serverEvents(response: Response): AsyncGenerator<Record<string, unknown>> {
  let rest = '';
  for await (const text of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data:')) continue;
      const data = line.slice('data:'.length).trim();
      if (data === '[DONE]') return;
      yield checked(JSON.parse(data) as Record<string, unknown>);
    }
  }
}

function checked(event: Record<string, unknown>): Record<string, unknown> {
  const { error } = event as { error?: { message?: string; code?: string } };
  if (!error) return event;
  throw new CliError(`${error.message ?? 'the gateway reported an error'}${error.code ? ` [${error.code}]` : ''}`);
}

export interface GatewayOptions {
  readonly url?: string;
  readonly keyFile?: string;
}

/** `--url` and `--key-file`, the same for every command that talks to a gateway. */
export const withGatewayOptions = (command: Command): Command =>
  command
    .option('--url <url>', 'the gateway (default: server.host and server.port of this configuration)')
    .option('--key-file <file>', 'file that holds the API key and nothing else');

export interface GatewayRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: RequestInit['body'];
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A running gateway over HTTP; its errors as one sentence each. */
export class GatewayClient {
  readonly url: string;
  readonly #headers: Record<string, string>;

  constructor({ url, keyFile }: GatewayOptions) {
    this.url = (url ?? configuredUrl()).replace(/\/+$/, '').replace(/\/v1$/, '');
    this.#headers = keyFile === undefined ? {} : { authorization: `Bearer ${readKey(keyFile)}` };
  }

  /** @returns an answer of 2xx. @throws CliError with what the gateway said, exit code 3 when nobody answers */
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
    return (await (await this.request(path, request)).json()) as T;
  }

  #unreachable(error: Error): CliError {
    const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
    const hint = 'start one with `npm run up`, or name another with --url';
    return new CliError(`no gateway answers at ${this.url} (${code ?? message}); ${hint}`, EXIT.unreachable, {
      cause: error,
    });
  }
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

/** OpenAI's envelope, or the beginning of whatever else came. */
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

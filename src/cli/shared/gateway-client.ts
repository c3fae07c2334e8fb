import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command } from 'commander';
import {
  gatewayFromEnvironment,
  GATEWAY_VARIABLES,
  launchDirectory,
  ownName,
} from '../../platform/config/process-environment.js';
import { loadConfig } from '../../platform/config/load-config.js';
import { CliError, EXIT, type ExitCode } from './cli-error.js';

export interface GatewayClientOptions {
  readonly url?: string;
  readonly apiKey?: string;
  readonly keyFile?: string;
}

/**
 * `--url`, `--api-key` and `--key-file`, the same for every command that talks
 * to a gateway.
 */
export const withGatewayOptions = (command: Command): Command =>
  command
    .option(
      '--url <url>',
      'the gateway (default: SWITCHYARD_URL, else the host and port of these settings)',
    )
    .option(
      '--api-key <key>',
      'its API key, which other users of this machine may see (default: SWITCHYARD_API_KEY)',
    )
    .option('--key-file <file>', 'file that holds the API key and nothing else');

export interface GatewayRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: RequestInit['body'];
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** HTTP client of a running gateway. Every failure is a CliError with one sentence. */
export class GatewayClient {
  readonly url: string;
  /** The key, for a connection of another kind. */
  readonly headers: Readonly<Record<string, string>>;

  constructor({ url, apiKey, keyFile }: GatewayClientOptions) {
    const access = gatewayFromEnvironment();
    this.url = gatewayUrl(url, access.url).replace(/\/+$/, '').replace(/\/v1$/, '');
    const key = apiKey ?? (keyFile === undefined ? access.key : readKey(keyFile));
    this.headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  }

  /**
   * @returns a 2xx response. @throws CliError with the gateway's message; exit code 3
   *   when it cannot be reached
   */
  async request(
    path: string,
    { headers = {}, ...init }: GatewayRequest = {},
  ): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(this.url + path, {
        ...init,
        headers: { ...this.headers, ...headers },
      });
    } catch (error) {
      init.signal?.throwIfAborted();
      throw this.#unreachable(error as Error);
    }
    if (response.ok) return response;
    throw await refusal(response);
  }

  async json<T>(path: string, request: GatewayRequest = {}): Promise<T> {
    const text = await (await this.request(path, request)).text();
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new CliError(
        `${this.url}${path} did not answer with JSON; is it a Switchyard gateway?`,
        EXIT.failed,
        {
          cause,
        },
      );
    }
  }

  /** POST with a JSON body, or without one. */
  post<T>(path: string, body?: object): Promise<T> {
    const sent = body && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    };
    return this.json(path, { method: 'POST', ...sent });
  }

  #unreachable(error: Error): CliError {
    const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
    const hint = `start one with \`${ownName()} up\`, or name another one with --url`;
    return new CliError(
      `no gateway answers at ${this.url} (${code ?? message}); ${hint}`,
      EXIT.unreachable,
      {
        cause: error,
      },
    );
  }
}

const STATUS_EXIT: Readonly<Record<number, ExitCode>> = {
  401: EXIT.denied,
  403: EXIT.denied,
  404: EXIT.notFound,
  429: EXIT.busy,
  503: EXIT.busy,
};

function gatewayUrl(
  given: string | undefined,
  fromEnvironment: string | undefined,
): string {
  if (given !== undefined) return httpUrl(given, '--url');
  return fromEnvironment === undefined
    ? configuredUrl()
    : httpUrl(fromEnvironment, GATEWAY_VARIABLES.url);
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
    throw new CliError(`--key-file: ${(error as Error).message}`, EXIT.usage, {
      cause: error,
    });
  }
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

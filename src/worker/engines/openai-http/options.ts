import { validateHeaderName, validateHeaderValue } from 'node:http';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import {
  EngineOptions,
  EngineOptionsError,
} from '@switchyard/engine-api/engine-options.js';

/** An OpenAI-compatible server, and how to call it. */
export interface OpenAiHttpOptions {
  readonly modelId: string;
  /** Without a slash at the end, such as `https://gpu-7:8000/v1`. */
  readonly baseUrl: string;
  /** The upstream's name of the model. */
  readonly model: string;
  /** A file that holds the bearer key and nothing else. */
  readonly apiKeyFile: string | undefined;
  /** Longest silence of the upstream within one attempt: no byte taken, none sent. */
  readonly timeoutMs: number;
  /** Requests at the upstream at the same time. */
  readonly maxConcurrent: number;
  /** Group members of one engine call, sent side by side. */
  readonly maxBatch: number;
  /** Attempts after the first one. */
  readonly retries: number;
  /** Longest wait before another attempt, whatever `Retry-After` says. */
  readonly maxRetryWaitMs: number;
  readonly caFile: string | undefined;
  readonly insecureSkipVerify: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly capabilities: readonly string[];
  readonly languages: readonly string[];
}

export interface OpenAiHttpSpeechOptions extends OpenAiHttpOptions {
  /** The upstream's ids of its voices. */
  readonly voices: readonly string[];
  /** Hz, of what the upstream calls `pcm`. */
  readonly sampleRate: number;
}

const DEFAULT_SAMPLE_RATE = 24_000;

/**
 * Written by the engine itself; a key belongs in a file, where no log and no error
 * message quotes it.
 */
const OWN_HEADERS = [
  ...[
    'authorization',
    'accept',
    'connection',
    'content-length',
    'content-type',
    'expect',
    'host',
    'keep-alive',
  ],
  ...['transfer-encoding', 'upgrade'],
];

/** @throws EngineOptionsError */
export function readOpenAiHttpOptions(spec: ModelSpec): OpenAiHttpOptions {
  const options = new EngineOptions(spec);
  const read = readCommon(options, spec);
  options.done();
  return read;
}

/**
 * Generations are calls of their own: no groups, so no `maxBatch`.
 * @throws EngineOptionsError
 */
export function readOpenAiHttpTextOptions(spec: ModelSpec): OpenAiHttpOptions {
  const options = new EngineOptions(spec);
  const read = { ...readConnection(options, spec), maxBatch: 1 };
  options.done();
  return read;
}

/** @throws EngineOptionsError */
export function readOpenAiHttpSpeechOptions(spec: ModelSpec): OpenAiHttpSpeechOptions {
  const options = new EngineOptions(spec);
  const common = readCommon(options, spec);
  const sampleRate = options.integer('sampleRate', {
    min: 8000,
    max: 48_000,
    fallback: DEFAULT_SAMPLE_RATE,
  });
  options.done();
  const voices = [...new Set(Object.values(spec.voices))];
  if (voices.length > 0) return { ...common, sampleRate, voices };
  const allowed =
    "at least one pair of a client's voice name and the upstream's, such as alloy: af_heart";
  throw new EngineOptionsError(spec.id, [`voices is {}; allowed: ${allowed}`]);
}

function readCommon(options: EngineOptions, spec: ModelSpec): OpenAiHttpOptions {
  const read = readConnection(options, spec);
  return {
    ...read,
    maxBatch: options.integer('maxBatch', {
      min: 1,
      max: read.maxConcurrent,
      fallback: 1,
    }),
  };
}

function readConnection(
  options: EngineOptions,
  spec: ModelSpec,
): Omit<OpenAiHttpOptions, 'maxBatch'> {
  const baseUrl = readBaseUrl(options);
  return {
    modelId: spec.id,
    baseUrl,
    model: options.text('model', spec.id),
    apiKeyFile: optionalText(options, 'apiKeyFile'),
    timeoutMs: options.integer('timeoutMs', {
      min: 1,
      max: 3_600_000,
      fallback: 300_000,
    }),
    maxConcurrent: options.integer('maxConcurrent', { min: 1, max: 1024, fallback: 8 }),
    retries: options.integer('retries', { min: 0, max: 10, fallback: 2 }),
    maxRetryWaitMs: options.integer('maxRetryWaitMs', {
      min: 0,
      max: 600_000,
      fallback: 30_000,
    }),
    ...readTls(options, baseUrl),
    headers: readHeaders(options),
    capabilities: spec.capabilities,
    languages: spec.languages,
  };
}

function readBaseUrl(options: EngineOptions): string {
  const value = options.raw('baseUrl');
  const allowed =
    'an http or https URL without credentials, query and fragment, such as http://127.0.0.1:8000/v1';
  const url =
    typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url && (url.username !== '' || url.password !== '')) {
    // The value would quote the password.
    options.reject(
      'baseUrl',
      'a URL with credentials',
      `${allowed}; put the key into the file of options.apiKeyFile`,
    );
  } else if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    options.reject('baseUrl', value, allowed);
  } else return url.href.replace(/\/+$/, '');
  return 'http://127.0.0.1';
}

function readTls(
  options: EngineOptions,
  baseUrl: string,
): Pick<OpenAiHttpOptions, 'caFile' | 'insecureSkipVerify'> {
  const caFile = optionalText(options, 'caFile');
  const insecureSkipVerify = options.flag('insecureSkipVerify');
  if (caFile !== undefined && insecureSkipVerify) {
    options.reject(
      'insecureSkipVerify',
      true,
      'false while options.caFile is set, which would not be used',
    );
  }
  if (!baseUrl.startsWith('https:')) {
    if (caFile !== undefined)
      options.reject('caFile', caFile, 'nothing, unless options.baseUrl is https');
    if (insecureSkipVerify)
      options.reject(
        'insecureSkipVerify',
        true,
        'false, unless options.baseUrl is https',
      );
  }
  return { caFile, insecureSkipVerify };
}

function readHeaders(options: EngineOptions): Record<string, string> {
  const value = options.raw('headers') ?? {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    options.reject('headers', value, 'pairs of a header name and its text');
    return {};
  }
  const entries = Object.entries(value as Record<string, unknown>);
  for (const [name, text] of entries) {
    const problem = headerProblem(name, text);
    // Only the name is told: a value may be a secret.
    if (problem !== undefined) options.reject('headers', name, problem);
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

function headerProblem(name: string, text: unknown): string | undefined {
  if (name.toLowerCase() === 'authorization')
    return 'any header but this one; the key belongs into options.apiKeyFile';
  if (OWN_HEADERS.includes(name.toLowerCase()))
    return 'any header but those of the exchange itself';
  try {
    validateHeaderName(name);
    if (typeof text !== 'string') return 'a header whose value is a text';
    validateHeaderValue(name, text);
    return undefined;
  } catch {
    return 'names and values that HTTP can carry (RFC 9110)';
  }
}

function optionalText(options: EngineOptions, name: string): string | undefined {
  const value = options.raw(name);
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  options.reject(name, value, 'the path of a file, or leave it out');
  return undefined;
}

import { validateHeaderName, validateHeaderValue } from 'node:http';
import {
  choiceOption,
  EngineOptionsError,
  FLAG_OPTION,
  integerOption,
  optionOf,
  type OptionsOf,
  readOptions,
  type RejectOption,
  textOption,
} from '@switchyard/engine-api/engine-options.js';
import { z } from 'zod';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { type SchedulerName, SCHEDULERS } from './scheduler-words.js';

const PATH = optionOf(z.string().min(1).optional(), 'the path of a file, or leave it out');
const URL_FORM =
  'an http or https URL without credentials, query and fragment, such as http://127.0.0.1:8000/v1';
/** Stands for a value that would quote a password. */
const WITH_CREDENTIALS = 'a URL with credentials';

const BASE_URL = z
  .url({ protocol: /^https?$/ })
  .transform(text => new URL(text))
  .refine(({ search, hash }) => search === '' && hash === '')
  .transform(({ username, password, href }) =>
    username + password === '' ? href.replace(/\/+$/, '') : WITH_CREDENTIALS,
  );

const connectionRules = (id: string) => ({
  // Without a slash at the end, such as `https://gpu-7:8000/v1`.
  baseUrl: optionOf(BASE_URL, URL_FORM),
  // The upstream's name of the model.
  model: textOption(id),
  // A file that holds the bearer key and nothing else.
  apiKeyFile: PATH,
  // Longest silence of the upstream within one attempt: no byte taken, none sent.
  timeoutMs: integerOption(1, 3_600_000, 300_000),
  // Requests at the upstream at the same time.
  maxConcurrent: integerOption(1, 1024, 8),
  // Attempts after the first one.
  retries: integerOption(0, 10, 2),
  // Longest wait before another attempt, whatever `Retry-After` says.
  maxRetryWaitMs: integerOption(0, 600_000, 30_000),
  caFile: PATH,
  insecureSkipVerify: FLAG_OPTION,
  headers: optionOf(
    z.record(z.string(), z.custom<string>()),
    'pairs of a header name and its text',
    {},
  ),
});

/** Whose queue the server has, and so the words that it is told of each request. */
const QUEUE_RULES = {
  scheduler: choiceOption(Object.keys(SCHEDULERS) as SchedulerName[], 'none'),
};

const groupRules = (id: string) => ({
  ...connectionRules(id),
  // Group members of one engine call, sent side by side.
  maxBatch: optionOf(z.custom<number>(), 'a whole number', 1),
});

type Connection = OptionsOf<ReturnType<typeof connectionRules>>;

/** An OpenAI-compatible server, and how to call it. */
export interface OpenAiHttpOptions extends Connection {
  readonly modelId: string;
  readonly maxBatch: number;
  /** Absent for speech, which no such server schedules. */
  readonly scheduler?: SchedulerName;
  readonly capabilities: readonly string[];
  readonly languages: readonly string[];
}

/**
 * Written by the engine itself; a key belongs in a file, where no log and no error
 * message quotes it.
 */
const OWN_HEADERS = [
  'accept',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
];

const entryOf = ({ id, capabilities, languages }: ModelSpec) => ({
  modelId: id,
  capabilities,
  languages,
});

/**
 * Generations are calls of their own: no groups, so no `maxBatch`.
 * @throws EngineOptionsError
 */
export const readOpenAiHttpOptions = (spec: ModelSpec): OpenAiHttpOptions => ({
  maxBatch: 1,
  ...(spec.kind === 'llm'
    ? readOptions(spec, { ...connectionRules(spec.id), ...QUEUE_RULES }, checkConnection)
    : spec.kind === 'embedding'
      ? readOptions(spec, { ...groupRules(spec.id), ...QUEUE_RULES }, checkGroup)
      : readOptions(spec, groupRules(spec.id), checkGroup)),
  ...entryOf(spec),
});

/** @throws EngineOptionsError */
export function readOpenAiHttpSpeechOptions(spec: ModelSpec) {
  // Hz, of what the upstream calls `pcm`.
  const sampleRate = integerOption(8000, 48_000, 24_000);
  const rules = { ...groupRules(spec.id), sampleRate };
  const read = readOptions(spec, rules, checkGroup);
  // The upstream's ids of its voices.
  const voices = [...new Set(Object.values(spec.voices))];
  if (voices.length > 0) return { ...read, ...entryOf(spec), voices };
  const allowed =
    "at least one pair of a client's voice name and the upstream's, such as alloy: af_heart";
  throw new EngineOptionsError(spec.id, [`voices is {}; allowed: ${allowed}`]);
}

function checkGroup(read: OptionsOf<ReturnType<typeof groupRules>>, reject: RejectOption): void {
  checkConnection(read, reject);
  const { maxBatch, maxConcurrent } = read;
  const { schema, allowed } = integerOption(1, maxConcurrent);
  if (!schema.safeParse(maxBatch).success) reject('maxBatch', maxBatch, allowed);
}

function checkConnection(
  { baseUrl = '', caFile, insecureSkipVerify, headers }: Partial<Connection>,
  reject: RejectOption,
): void {
  if (baseUrl === WITH_CREDENTIALS)
    reject('baseUrl', baseUrl, `${URL_FORM}; put the key into the file of options.apiKeyFile`);
  if (caFile !== undefined && insecureSkipVerify)
    reject(
      'insecureSkipVerify',
      true,
      'false while options.caFile is set, which would not be used',
    );
  const isSecure = baseUrl.startsWith('https:');
  if (caFile !== undefined && !isSecure)
    reject('caFile', caFile, 'nothing, unless options.baseUrl is https');
  if (insecureSkipVerify && !isSecure)
    reject('insecureSkipVerify', true, 'false, unless options.baseUrl is https');
  checkHeaders(headers ?? {}, reject);
}

function checkHeaders(headers: Readonly<Record<string, string>>, reject: RejectOption): void {
  for (const [name, text] of Object.entries(headers)) {
    const problem = headerProblem(name, text);
    // Only the name is told: a value may be a secret.
    if (problem !== undefined) reject('headers', name, problem);
  }
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

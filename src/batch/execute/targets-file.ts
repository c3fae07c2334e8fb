import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ANYTHING,
  FLAG,
  type FieldProblem,
  fieldProblems,
  type ValueRule,
  isObject,
  mapOf,
  matching,
  objectOf,
  type ObjectRules,
  optional,
  TEXT,
  valueProblems,
  wholeNumberFrom,
} from '../../core/shared/schema.js';
import { ConfigError, placed, readYamlFile } from '../../platform/config/yaml-file.js';
import { type TargetSpec } from './line-target.js';

/** Splits `http://a:8000/, http://b:8000` and trims blanks and trailing slashes. */
export const addressesOf = (text: string): readonly string[] =>
  text.split(',').map(url => url.trim().replace(/\/+$/, ''));

const isAddress = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? '');

/** One target for all models, or one per model. */
export type Targets =
  | { readonly kind: 'global'; readonly target: TargetSpec }
  | { readonly kind: 'per_model'; readonly targets: ReadonlyMap<string, TargetSpec> };

export interface TargetsFileOptions {
  readonly path: string;
  /** Folder of the key files that `api_key_name` refers to. */
  readonly secretsDir: string;
  readonly busyAttempts: number;
}

const URLS: ValueRule = {
  allowed: 'one or several comma-separated http or https URLs',
  accepts: value => typeof value === 'string' && addressesOf(value).every(isAddress),
};
const DURATION = matching(/^\d+(\.\d+)?(ms|s|m|h)$/, 'a duration such as 500ms, 30s or 5m');
const PATH = optional(TEXT);

const ENTRY: ObjectRules = {
  url: URLS,
  request_timeout: DURATION,
  max_retries: wholeNumberFrom(0, 1e6),
  initial_backoff: DURATION,
  max_backoff: DURATION,
  api_key_name: PATH,
  api_key_file: PATH,
  tls_insecure_skip_verify: optional(FLAG),
  tls_ca_cert_file: PATH,
  tls_client_cert_file: PATH,
  tls_client_key_file: PATH,
};

const TARGET = objectOf(ENTRY, 'one target with url, request_timeout, …');
const FILE: ObjectRules = {
  global_inference_gateway: optional(TARGET),
  model_gateways: optional(mapOf(ANYTHING, 'pairs of a model and its target')),
};

/** One entry, checked. */
interface Entry {
  readonly url: string;
  readonly request_timeout: string;
  readonly max_retries: number;
  readonly initial_backoff: string;
  readonly max_backoff: string;
  readonly api_key_name?: string;
  readonly api_key_file?: string;
  readonly tls_insecure_skip_verify?: boolean;
  readonly tls_ca_cert_file?: string;
  readonly tls_client_cert_file?: string;
  readonly tls_client_key_file?: string;
}

type Modes = Readonly<{ global_inference_gateway?: Entry; model_gateways?: Readonly<Record<string, Entry>> }>;

/** Reads a targets file: exactly one of the two modes, each entry complete. @throws ConfigError with every problem */
export function readTargetsFile(options: TargetsFileOptions): Targets {
  const file = readYamlFile(options.path, options.path);
  if (!file) throw missingFile(options.path);
  const root: unknown = file.document.toJSON();
  const object = isObject(root) ? root : {};
  const found = file.problems.length > 0 ? [] : fileProblems(object);
  const place = { node: file.document.contents, path: '' };
  const problems = [...file.problems, ...found.map(problem => placed(file, place, problem))];
  if (problems.length > 0) throw new ConfigError(problems);
  const { global_inference_gateway: one, model_gateways: many = {} } = object as Modes;
  if (one) return { kind: 'global', target: targetOf(one, options) };
  const targets = Object.entries(many).map(([model, entry]) => [model, targetOf(entry, options)] as const);
  return { kind: 'per_model', targets: new Map(targets) };
}

function fileProblems(root: Readonly<Record<string, unknown>>): FieldProblem[] {
  const { global_inference_gateway: one, model_gateways: many } = root;
  const problems = fieldProblems(root, FILE);
  if ((one == null) === (many == null)) {
    const message = 'exactly one of global_inference_gateway and model_gateways is required';
    problems.push({ path: ['global_inference_gateway'], message });
  }
  if (isObject(one)) problems.push(...keyProblems(one, ['global_inference_gateway']));
  for (const [model, entry] of Object.entries(isObject(many) ? many : {})) {
    const path = ['model_gateways', model];
    problems.push(...valueProblems(entry, TARGET, path));
    if (isObject(entry)) problems.push(...keyProblems(entry, path));
  }
  return problems;
}

const keyProblems = (entry: Readonly<Record<string, unknown>>, path: readonly string[]): FieldProblem[] =>
  entry.api_key_name != null && entry.api_key_file != null
    ? [{ path: [...path, 'api_key_name'], message: 'api_key_name and api_key_file are mutually exclusive' }]
    : [];

function targetOf(entry: Entry, options: TargetsFileOptions): TargetSpec {
  const bearer = keyOf(entry, options);
  return {
    urls: addressesOf(entry.url),
    requestTimeoutMs: durationMs(entry.request_timeout),
    retries: {
      attempts: entry.max_retries + 1,
      busyAttempts: options.busyAttempts,
      initialMs: durationMs(entry.initial_backoff),
      maxMs: durationMs(entry.max_backoff),
    },
    tls: tlsOf(entry),
    fetchesFileUrl: false,
    authorization: () => bearer,
  };
}

const tlsOf = (entry: Entry): TargetSpec['tls'] => ({
  insecureSkipVerify: entry.tls_insecure_skip_verify === true,
  ...(entry.tls_ca_cert_file != null && { caCertFile: entry.tls_ca_cert_file }),
  ...(entry.tls_client_cert_file != null && { clientCertFile: entry.tls_client_cert_file }),
  ...(entry.tls_client_key_file != null && { clientKeyFile: entry.tls_client_key_file }),
});

function keyOf({ api_key_name: name, api_key_file: file }: Entry, options: TargetsFileOptions): string | undefined {
  const path = file ?? (name == null ? undefined : join(options.secretsDir, name));
  if (path == null) return undefined;
  try {
    return `Bearer ${readFileSync(path, 'utf8').trim()}`;
  } catch (error) {
    const message = `the key file ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw new ConfigError([{ origin: options.path, message }]);
  }
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `500ms`, `30s`, `5m`, `1h`. */
const durationMs = (text: string): number => parseFloat(text) * UNIT_MS[text.replace(/^[\d.]+/, '')]!;

const missingFile = (path: string): ConfigError =>
  new ConfigError([{ origin: path, message: 'cannot be read (ENOENT); `batch.targets_file` names it' }]);

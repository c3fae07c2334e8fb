import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { readFields } from '../../contracts/schema/field-problems.js';
import {
  checked,
  FLAG,
  matching,
  objectOf,
  optional,
  TEXT,
  wholeNumberFrom,
} from '../../contracts/schema/rules.js';
import { ConfigError, placed, readYamlFile } from '../../platform/config/yaml-file.js';
import { type TargetSpec } from './line-target.js';

/** Splits `http://a:8000/, http://b:8000` and trims blanks and trailing slashes. */
export const addressesOf = (text: string): readonly string[] =>
  text.split(',').map(url => url.trim().replace(/\/+$/, ''));

const isAddress = (url: string): boolean =>
  /^https?:$/.test(URL.parse(url)?.protocol ?? '');

/** One target for all models, or one per model. */
export type Targets =
  | { readonly kind: 'global'; readonly target: TargetSpec }
  | { readonly kind: 'per_model'; readonly targets: ReadonlyMap<string, TargetSpec> };

interface TargetsFileOptions {
  readonly path: string;
  /** Folder of the key files that `api_key_name` refers to. */
  readonly secretsDir: string;
  readonly busyAttempts: number;
}

const URLS = checked<string>(
  value => typeof value === 'string' && addressesOf(value).every(isAddress),
  'one or several comma-separated http or https URLs',
);
const DURATION = matching(
  /^\d+(\.\d+)?(ms|s|m|h)$/,
  'a duration such as 500ms, 30s or 5m',
);

const TARGET = objectOf(
  {
    url: URLS,
    request_timeout: DURATION,
    max_retries: wholeNumberFrom(0, 1e6),
    initial_backoff: DURATION,
    max_backoff: DURATION,
    api_key_name: optional(TEXT),
    api_key_file: optional(TEXT),
    tls_insecure_skip_verify: optional(FLAG),
    tls_ca_cert_file: optional(TEXT),
    tls_client_cert_file: optional(TEXT),
    tls_client_key_file: optional(TEXT),
  },
  'one target with url, request_timeout, …',
).refine(
  ({ api_key_name: name, api_key_file: file }) =>
    name === undefined || file === undefined,
  {
    path: ['api_key_name'],
    message: 'api_key_name and api_key_file are mutually exclusive',
    when: () => true,
  },
);

const FILE = objectOf(
  {
    global_inference_gateway: optional(TARGET),
    model_gateways: optional(
      z.record(z.string(), TARGET, 'must be pairs of a model and its target'),
    ),
  },
  'one target or targets by model',
).refine(
  ({ global_inference_gateway: one, model_gateways: many }) =>
    (one === undefined) !== (many === undefined),
  {
    path: ['global_inference_gateway'],
    message: 'exactly one of global_inference_gateway and model_gateways is required',
    when: () => true,
  },
);

type Entry = z.output<typeof TARGET>;

/**
 * Reads a targets file: exactly one of the two modes, each entry complete. @throws
 * ConfigError with every problem
 */
export function readTargetsFile(options: TargetsFileOptions): Targets {
  const file = readYamlFile(options.path, options.path);
  if (!file) throw missingFile(options.path);
  const root: unknown = file.document.toJSON();
  const { data = {}, problems: found } = readFields(FILE, isObject(root) ? root : {});
  const place = { node: file.document.contents, path: '' };
  const problems =
    file.problems.length > 0
      ? file.problems
      : found.map(problem => placed(file, place, problem));
  if (problems.length > 0) throw new ConfigError(problems);
  const { global_inference_gateway: one, model_gateways: many = {} } = data;
  if (one) return { kind: 'global', target: targetOf(one, options) };
  const targets = Object.entries(many).map(
    ([model, entry]) => [model, targetOf(entry, options)] as const,
  );
  return { kind: 'per_model', targets: new Map(targets) };
}

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
    tls: {
      insecureSkipVerify: entry.tls_insecure_skip_verify === true,
      caCertFile: entry.tls_ca_cert_file,
      clientCertFile: entry.tls_client_cert_file,
      clientKeyFile: entry.tls_client_key_file,
    },
    fetchesFileUrl: false,
    authorization: () => bearer,
  };
}

function keyOf(
  { api_key_name: name, api_key_file: file }: Entry,
  options: TargetsFileOptions,
): string | undefined {
  const path = file ?? (name === undefined ? undefined : join(options.secretsDir, name));
  if (path === undefined) return undefined;
  try {
    return `Bearer ${readFileSync(path, 'utf8').trim()}`;
  } catch (error) {
    const message = `the key file ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`;
    throw new ConfigError([{ origin: options.path, message }]);
  }
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** `500ms`, `30s`, `5m`, `1h`. */
const durationMs = (text: string): number =>
  parseFloat(text) * UNIT_MS[text.replace(/^[\d.]+/, '')]!;

const missingFile = (path: string): ConfigError =>
  new ConfigError([
    { origin: path, message: 'cannot be read (ENOENT); `batch.targets_file` names it' },
  ]);

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ConfigError, type ConfigProblem } from '../../platform/config/config-problem.js';
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

const REQUIRED = ['url', 'request_timeout', 'max_retries', 'initial_backoff', 'max_backoff'] as const;
const OPTIONAL = [
  'api_key_name',
  'api_key_file',
  'tls_insecure_skip_verify',
  'tls_ca_cert_file',
  'tls_client_cert_file',
  'tls_client_key_file',
] as const;
type Field = (typeof REQUIRED)[number] | (typeof OPTIONAL)[number];
type Scalar = string | number | boolean;
type Fields = Readonly<Partial<Record<Field, Scalar>>>;

/** Reads a targets file: exactly one of the two modes, each entry complete. @throws ConfigError with every problem */
export function readTargetsFile(options: TargetsFileOptions): Targets {
  const problems: ConfigProblem[] = [];
  const file = mapOf(parse(readText(options.path)) as unknown);
  const note = (path: string, message: string): void => void problems.push({ origin: options.path, path, message });
  const { global_inference_gateway: one, model_gateways: many, ...rest } = file;
  for (const name of Object.keys(rest)) note(name, 'unknown field; use global_inference_gateway or model_gateways');
  if ((one === undefined) === (many === undefined))
    note('global_inference_gateway', 'exactly one of global_inference_gateway and model_gateways is required');
  const read = (path: string, value: unknown): TargetSpec =>
    targetOf(
      scalarsOf(value, text => note(path, text)),
      options,
      text => note(path, text),
    );
  const targets: Targets =
    one !== undefined
      ? { kind: 'global', target: read('global_inference_gateway', one) }
      : {
          kind: 'per_model',
          targets: new Map(
            Object.entries(mapOf(many)).map(([model, value]) => [model, read(`model_gateways.${model}`, value)]),
          ),
        };
  if (problems.length > 0) throw new ConfigError(problems);
  return targets;
}

type Note = (message: string) => void;

function targetOf(fields: Fields, options: TargetsFileOptions, note: Note): TargetSpec {
  for (const name of Object.keys(fields))
    if (![...REQUIRED, ...OPTIONAL].includes(name as Field)) note(`\`${name}\`: unknown field`);
  for (const name of REQUIRED) if (fields[name] === undefined) note(`\`${name}\` is required in every entry`);
  const urls = addressesOf(String(fields.url));
  if (fields.url !== undefined && !urls.every(isAddress))
    note('`url` must be one or several comma-separated http or https URLs');
  const bearer = keyOf(fields, options, note);
  return {
    urls,
    requestTimeoutMs: durationMs(fields, 'request_timeout', note),
    retries: {
      attempts: wholeNumber(fields.max_retries, note) + 1,
      busyAttempts: options.busyAttempts,
      initialMs: durationMs(fields, 'initial_backoff', note),
      maxMs: durationMs(fields, 'max_backoff', note),
    },
    tls: tlsOf(fields),
    fetchesFileUrl: false,
    authorization: () => bearer,
  };
}

function tlsOf(fields: Fields): TargetSpec['tls'] {
  const path = (name: Field): string | undefined => (fields[name] === undefined ? undefined : String(fields[name]));
  const [caCertFile, clientCertFile] = [path('tls_ca_cert_file'), path('tls_client_cert_file')];
  const clientKeyFile = path('tls_client_key_file');
  return {
    insecureSkipVerify: fields.tls_insecure_skip_verify === true,
    ...(caCertFile === undefined ? {} : { caCertFile }),
    ...(clientCertFile === undefined ? {} : { clientCertFile }),
    ...(clientKeyFile === undefined ? {} : { clientKeyFile }),
  };
}

function keyOf(fields: Fields, { secretsDir }: TargetsFileOptions, note: Note): string | undefined {
  const { api_key_name: name, api_key_file: file } = fields;
  if (name !== undefined && file !== undefined) note('`api_key_name` and `api_key_file` are mutually exclusive');
  const path = file !== undefined ? String(file) : name !== undefined ? join(secretsDir, String(name)) : undefined;
  if (path === undefined) return undefined;
  try {
    return `Bearer ${readFileSync(path, 'utf8').trim()}`;
  } catch (error) {
    note(`the key file ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `500ms`, `30s`, `5m`, `1h`. */
function durationMs(fields: Fields, name: Field, note: Note): number {
  if (fields[name] === undefined) return 0;
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(String(fields[name]));
  if (!match) note(`\`${name}\` must be a duration such as 500ms, 30s or 5m`);
  return match ? Number(match[1]) * UNIT_MS[match[2]!]! : 0;
}

function wholeNumber(value: Scalar | undefined, note: Note): number {
  if (value === undefined) return 0;
  if (!Number.isInteger(value) || Number(value) < 0) note('`max_retries` must be an integer of at least 0');
  return Number(value);
}

function scalarsOf(value: unknown, note: Note): Fields {
  const entries = Object.entries(mapOf(value));
  for (const [name, field] of entries)
    if (!['string', 'number', 'boolean'].includes(typeof field))
      note(`\`${name}\` must be a string, a number, true or false`);
  return Object.fromEntries(entries);
}

const mapOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([{ origin: path, message: `cannot be read (${code}); \`batch.targets_file\` names it` }]);
  }
}

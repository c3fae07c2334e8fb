import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type OnApplicationShutdown } from '@nestjs/common';
import { readFields } from '@switchyard/engine-api/field-problems.js';
import { fieldsIn } from '@switchyard/engine-api/is-object.js';
import {
  checked,
  FLAG,
  matching,
  objectOf,
  optional,
  TEXT,
  wholeNumberFrom,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import { probePauses } from '../../core/jobs/reachability.js';
import {
  internalTokens,
  ShortLivedTokens,
  tokenSecret,
} from '../../platform/auth/short-lived-tokens.js';
import { type ProcessorLink } from '../../platform/config/processor-link.js';
import { requiresKeys, type Settings } from '../../platform/config/settings.js';
import { ConfigError, placed, readYamlFile } from '../../platform/config/yaml-file.js';
import { callableUrl } from '../../platform/http/connections.js';
import { LineTarget } from './line-target.js';
import { TargetGate } from './target-gate.js';

/** Splits `http://a:8000/, http://b:8000` and trims blanks and trailing slashes. */
const addressesOf = (text: string): readonly string[] =>
  text.split(',').map(url => url.trim().replace(/\/+$/, ''));

const isAddress = (url: string): boolean => /^https?:$/.test(URL.parse(url)?.protocol ?? '');

type TargetSpec = LineTarget['spec'];

/** One target for all models, or one per model. */
type Targets =
  | { readonly kind: 'global'; readonly target: TargetSpec }
  | { readonly kind: 'per_model'; readonly targets: ReadonlyMap<string, TargetSpec> };

interface TargetsFileOptions {
  readonly path: string;
  /** Folder of the key files that `api_key_name` refers to. */
  readonly secretsDir: string;
}

const URLS = checked<string>(
  value => typeof value === 'string' && addressesOf(value).every(isAddress),
  'one or several comma-separated http or https URLs',
);

const DURATION = matching(/^\d+(\.\d+)?(ms|s|m|h)$/, 'a duration such as 500ms, 30s or 5m');

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
).refine(({ api_key_name: name, api_key_file: file }) => name === undefined || file === undefined, {
  path: ['api_key_name'],
  message: 'api_key_name and api_key_file are mutually exclusive',
  when: () => true,
});

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
  const { data = {}, problems: found } = readFields(FILE, fieldsIn(root));
  const place = { node: file.document.contents, path: '' };
  const problems =
    file.problems.length > 0 ? file.problems : found.map(problem => placed(file, place, problem));
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

/**
 * The gateway as a target. Its token that authorizes lines is made for each tenant and
 * key, and signed with the gateway's secret; a processor that was started by hand reads
 * that secret from `auth.token_secret_file`.
 * @throws ConfigError when keys are required and no secret is known
 */
function gatewayTarget(settings: Settings, link: ProcessorLink | undefined): TargetSpec {
  const { auth, batch, server } = settings;
  const signer = () => {
    const secret = tokenSecret(auth.tokenSecretFile, link?.tokenSecret);
    return secret && internalTokens(new ShortLivedTokens(secret));
  };
  let tokenFor = signer();
  if (!tokenFor && requiresKeys(settings)) {
    const message =
      'a separately run batch processor needs the secret that the gateway signs tokens with';
    throw new ConfigError([{ origin: 'auth.token_secret_file', message }]);
  }
  return {
    urls: addressesOf(
      batch.gatewayUrl || (link?.gatewayUrl ?? callableUrl(server.host, server.port)),
    ),
    requestTimeoutMs: batch.requestTimeoutMs,
    retries: {
      attempts: batch.attempts,
      initialMs: batch.backoffMinMs,
      maxMs: LONGEST_BACKOFFS * batch.backoffMinMs,
    },
    tls: { insecureSkipVerify: false },
    fetchesFileUrl: true,
    // Also where no keys are required: the first key of the database may come at
    // any time.
    authorization: ({ tenant, terms }) => tokenFor && `Bearer ${tokenFor(tenant, terms)}`,
    // From the secret that the file holds now; one that cannot be read stays as it was.
    renewTokens: () => {
      try {
        tokenFor = signer();
      } catch {
        // It is read again after the next refusal.
      }
    },
  };
}

/** @throws ConfigError */
export function targetResolver(
  settings: Settings,
  link: ProcessorLink | undefined,
): TargetResolver {
  const { targetsFile, secretsDir } = settings.batch;
  const targets: Targets =
    targetsFile === ''
      ? { kind: 'global', target: gatewayTarget(settings, link) }
      : readTargetsFile({ path: targetsFile, secretsDir });
  return new TargetResolver(targets, settings.batch);
}

/** The longest delay between two attempts, in first ones: a target away for an hour is found soon. */
const LONGEST_BACKOFFS = 60;
/** For a model without a target, whose lines are never sent. */
const NO_RETRIES = { initialMs: 0, maxMs: 0 };

/** Maps models to targets. Entries with equal settings share one connection pool. */
export class TargetResolver implements OnApplicationShutdown {
  readonly #pools: LineTarget[] = [];
  readonly #byModel = new Map<string, LineTarget>();
  readonly #global: LineTarget | undefined;
  readonly #gates = new Map<string, TargetGate>();

  constructor(
    targets: Targets,
    private readonly limits: Pick<Settings['batch'], 'concurrencyPerModel'>,
  ) {
    const pool = (spec: TargetSpec): LineTarget => {
      const known = this.#pools.find(({ spec: other }) => sameTarget(spec, other));
      if (known) return known;
      const target = new LineTarget(spec);
      this.#pools.push(target);
      return target;
    };
    if (targets.kind === 'global') this.#global = pool(targets.target);
    else for (const [model, spec] of targets.targets) this.#byModel.set(model, pool(spec));
  }

  /**
   * Models named in the configuration. Other names come from clients and are
   * never metric labels.
   */
  get knownModels(): readonly string[] {
    return [...this.#byModel.keys()];
  }

  /**
   * @returns undefined if the model is not listed: its lines fail with `model_not_found`
   */
  targetOf(model: string): LineTarget | undefined {
    return this.#global ?? this.#byModel.get(model);
  }

  /** The slots of a model at its target, shared by all jobs. */
  gateOf(model: string): TargetGate {
    const known = this.#gates.get(model);
    if (known) return known;
    const pauses = probePauses(this.targetOf(model)?.spec.retries ?? NO_RETRIES);
    const gate = new TargetGate(this.limits.concurrencyPerModel, pauses);
    this.#gates.set(model, gate);
    return gate;
  }

  /** Lines in flight per model. */
  *inFlight(): Generator<{ model: string; inFlight: number }> {
    for (const [model, { inFlight }] of this.#gates) yield { model, inFlight };
  }

  onApplicationShutdown(): void {
    for (const target of this.#pools) target.close();
  }
}

function sameTarget(a: TargetSpec, b: TargetSpec): boolean {
  const plain = (target: TargetSpec): object => ({
    ...target,
    authorization: target.authorization({ tenant: '' }),
  });
  return isDeepStrictEqual(plain(a), plain(b));
}

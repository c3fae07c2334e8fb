import { pathText, readFields } from '@switchyard/engine-api/field-problems.js';
import {
  ANYTHING,
  mapOf,
  objectOf,
  optional,
  TEXT,
  wholeNumberFrom,
} from '@switchyard/engine-api/rules.js';
import { maxMessageBytes } from '@switchyard/worker-protocol/message-size.js';
import { type FetchRules } from '../http/safe-fetch.js';
import type { ModelSpec, RemoteSpec, ReplicaSpec } from './model-spec.js';
import { inheritedEnvironment } from './process-environment.js';
import { namesRedis, redisServer } from './redis-server.js';
import { type Settings } from './settings.js';

/**
 * How gateways and pull workers reach the shared queue (D-19), the same for all of them:
 * Redis, the order of jobs (D-03), and where audio lies.
 */
export type SharedQueueAccess = Omit<Settings['redis'], 'url' | 'sentinels' | 'masterName'> & {
  /** Where Redis is, as ioredis takes it. */
  readonly server: ReturnType<typeof redisServer>;
} & Pick<Settings['queue'], 'agingMs' | 'agingShare'> &
  Pick<Settings, 'blobs' | 'data'>;

/**
 * Undefined: the queue is embedded. @throws Error when Redis is asked for and
 * none is named.
 */
export function sharedQueueAccess({
  queue: { driver, agingMs, agingShare },
  redis,
  blobs,
  data,
}: Settings): SharedQueueAccess | undefined {
  if (driver === 'embedded') return undefined;
  if (!namesRedis(redis))
    throw new Error('queue.driver is redis: redis.url must name one, or redis.sentinels.');
  const { url: _, sentinels: __, masterName: ___, ...own } = redis;
  return { ...own, server: redisServer(redis), agingMs, agingShare, blobs, data };
}

/**
 * The worker behind a bridge: one of engine `external`, which knows the
 * gRPC protocol only.
 */
export interface BridgedWorker {
  /**
   * host:port of one that is not started here; absent: the bridge runs
   * the model's `command`.
   */
  readonly address?: string;
  /** The host that `address` was resolved from. */
  readonly serverName?: string;
  readonly remote?: RemoteSpec;
  /** Added to the environment of the command. */
  readonly env?: NodeJS.ProcessEnv;
  readonly care: ReturnType<typeof workerCare>;
}

/**
 * Without traffic for this long a connection is pinged, before proxies close it as idle. A
 * worker that forbids so many pings says so, and gets fewer.
 */
const KEEPALIVE_MS = 10_000;

/**
 * How a worker is reached and probed, and how its calls are stopped (`stopCall`): the one
 * place where the settings become the care for workers, in gateways and bridges.
 */
export const workerCare = ({ server, workers, cancellation }: Settings) => ({
  limits: {
    maxMessageBytes: maxMessageBytes(server.uploadLimitBytes),
    keepaliveTimeMs: KEEPALIVE_MS,
    keepaliveTimeoutMs: workers.keepaliveTimeoutMs,
  },
  health: {
    intervalMs: workers.healthIntervalMs,
    timeoutMs: workers.healthTimeoutMs,
    failures: workers.healthFailures,
  },
  stop: {
    timeoutMs: cancellation.rpcTimeoutMs,
    resetAfterMs: cancellation.resetAfterMs,
  },
});

/**
 * Between SIGTERM and SIGKILL of a worker in another language: it may stay to
 * be seen draining.
 */
export const EXTERNAL_GRACE_MS = 5000;

/**
 * A process of this build stands before the worker: it pulls for one that knows gRPC only
 * (D-35), and tells its speakers apart (D-36).
 */
export const isBridged = (model: ModelSpec, settings: Settings): boolean =>
  model.engine === 'external' &&
  (pulledWork(model, settings).pull !== undefined || 'segmentationModel' in model.options);

/**
 * Everything one worker process receives from the gateway or from its command line. Nest
 * injects it there by this type.
 */
export abstract class WorkerSpec {
  abstract readonly workerId: string;
  abstract readonly model: ModelSpec;
  abstract readonly host: string;
  /** 0: any free port; the worker reports the one it got. */
  abstract readonly port: number;
  /** gRPC limit of one message, both ways; larger audio comes in pieces. */
  abstract readonly maxMessageBytes: number;
  /** Largest upload in pieces: `server.upload_limit_bytes`. */
  abstract readonly uploadLimitBytes: number;
  /** Uploads decoded at the same time. */
  abstract readonly prepParallel: number;
  abstract readonly keepaliveTimeMs: number;
  abstract readonly keepaliveTimeoutMs: number;
  /** How long a drain waits for running calls. */
  abstract readonly shutdownGraceMs: number;
  abstract readonly logLevel: Settings['logging']['level'];
  /** How audio by URL is fetched; without it every URL is refused. */
  readonly fetch?: FetchRules;
  /** It speaks TLS, with PEM files that are read when it starts to listen; absent: no TLS. */
  readonly tls?: {
    readonly certFile: string;
    readonly keyFile: string;
    /** Only clients with a certificate that one of these authorities signed are let in. */
    readonly clientCaFile?: string;
  };
  /** Holds the bearer token that every call must carry; absent: none is asked for. */
  readonly tokenFile?: string;
  /** The bearer token of the gateway that starts it, which asks for no file. */
  readonly localToken?: string;
  /**
   * It announces itself there, and takes its calls from all gateways of its machine; with
   * `pull` it pulls files, speech and embeddings as well. Absent: its gateway alone knows it.
   */
  readonly sharedQueue?: SharedQueueAccess;
  /** How it pulls, and how groups are made; only with `sharedQueue`. Absent: it only takes calls. */
  readonly pull?: Settings['pull'] & Pick<Settings['batching'], 'policy' | 'quietGapMs'>;
  /**
   * It recognises nothing: it is the bridge to that worker. There with
   * engine `external` only.
   */
  readonly bridged?: BridgedWorker;
}

/**
 * A worker receives its own part of the model only: where its siblings are, with which
 * secrets, is not its business.
 */
export function workerSpec(
  { model, ...place }: Pick<WorkerSpec, 'workerId' | 'model' | 'host' | 'port'>,
  settings: Settings,
): WorkerSpec {
  const { server, workers, logging } = settings;
  const { remote: _, ...own } = model;
  return {
    ...place,
    model: { ...own, replicas: 1, addresses: [] },
    ...workerCare(settings).limits,
    uploadLimitBytes: server.uploadLimitBytes,
    prepParallel: workers.prepParallel,
    shutdownGraceMs: server.shutdownGraceMs,
    logLevel: logging.level,
  };
}

/**
 * What a worker pulls where the queue is shared (D-19). Text generation and live streams
 * need a connection and are never pulled (D-20, D-21): such a worker only announces itself, if
 * it is on a device, since all gateways use what one of them loads there (D-28).
 * @throws Error when Redis is asked for and none is named.
 */
export function pulledWork(
  { kind, device }: ModelSpec,
  settings: Settings,
  { role }: ReplicaSpec = {},
): Pick<WorkerSpec, 'sharedQueue' | 'pull'> {
  const isPulled = kind !== 'llm' && role !== 'stream';
  const sharedQueue = isPulled || device ? sharedQueueAccess(settings) : undefined;
  if (!sharedQueue) return {};
  if (!isPulled) return { sharedQueue };
  const { policy, quietGapMs } = settings.batching;
  return { sharedQueue, pull: { ...settings.pull, policy, quietGapMs } };
}

export const WORKER_SPEC_VARIABLE = 'SWITCHYARD_WORKER_SPEC';

/**
 * The one place where the settings become the limits of audio by URL: as large as an
 * upload may be.
 */
export const fetchRules = ({ fetch, server }: Settings): FetchRules => ({
  timeoutMs: fetch.timeoutMs,
  maxBytes: server.uploadLimitBytes,
  allowHosts: fetch.allowHosts,
});

/**
 * The environment a supervised worker is started with: the part of `base` it may see,
 * what is `added` to it, the spec.
 */
export function workerEnvironment(
  spec: WorkerSpec,
  base: NodeJS.ProcessEnv = process.env,
  added: NodeJS.ProcessEnv = {},
): NodeJS.ProcessEnv {
  return {
    ...inheritedEnvironment(base),
    ...bucketKeys(spec, base),
    ...added,
    [WORKER_SPEC_VARIABLE]: JSON.stringify(spec),
  };
}

/**
 * A worker that pulls reads its audio from the bucket by itself, with the keys of
 * its own environment.
 */
const bucketKeys = (
  { sharedQueue, pull }: WorkerSpec,
  base: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv =>
  pull && sharedQueue?.blobs.driver === 's3'
    ? Object.fromEntries(Object.entries(base).filter(([name]) => name.startsWith('AWS_')))
    : {};

/**
 * @throws Error naming the variable when it is missing or damaged: a worker cannot run
 *   without its spec.
 */
export function readWorkerSpec(environment: NodeJS.ProcessEnv = process.env): WorkerSpec {
  const json = environment[WORKER_SPEC_VARIABLE];
  if (json === undefined)
    throw new Error(`${WORKER_SPEC_VARIABLE} is not set; workers are started by the gateway`);
  try {
    return complete(JSON.parse(json));
  } catch (error) {
    throw new Error(`${WORKER_SPEC_VARIABLE} is not a worker spec: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

const OBJECT = mapOf(ANYTHING, 'an object');
const LONG = wholeNumberFrom(0, Number.MAX_SAFE_INTEGER);

/** The gateway wrote the spec: types are checked, contents are not. */
const SPEC = objectOf(
  {
    workerId: TEXT,
    model: OBJECT,
    host: TEXT,
    port: wholeNumberFrom(0, 65_535),
    maxMessageBytes: LONG,
    uploadLimitBytes: LONG,
    prepParallel: LONG,
    keepaliveTimeMs: LONG,
    keepaliveTimeoutMs: LONG,
    shutdownGraceMs: LONG,
    logLevel: TEXT,
    fetch: optional(OBJECT),
    tls: optional(OBJECT),
    tokenFile: optional(TEXT),
    localToken: optional(TEXT),
    sharedQueue: optional(OBJECT),
    pull: optional(OBJECT),
    bridged: optional(OBJECT),
  } satisfies Readonly<Record<keyof WorkerSpec, unknown>>,
  'a worker spec',
);

function complete(spec: unknown): WorkerSpec {
  const { problems } = readFields(SPEC, spec);
  if (problems.length > 0)
    throw new Error(problems.map(({ path, message }) => `${pathText(path)} ${message}`).join(', '));
  return spec as WorkerSpec;
}

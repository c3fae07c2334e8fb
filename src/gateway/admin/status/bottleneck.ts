import { ERROR_REGISTRY } from '../../../contracts/errors/error-registry.js';
import { DEFAULT_TENANT } from '../../../core/request/request-key.js';
import { type ModelRates } from '../../../core/status/request-history.js';

/** One model, as far as the rule below looks at it. */
interface ModelLoad {
  readonly id: string;
  /** It is meant to serve: loaded, loading or failed, not unloaded. */
  readonly expected: boolean;
  /** Why the model does not serve, if known. */
  readonly reason?: string;
  /** Waiting requests, and those of the tenant that has most of them. */
  readonly waiting: number;
  readonly busiestTenant?: { readonly tenant: string; readonly waiting: number };
  readonly oldestWaitMs: number;
  readonly workers: {
    readonly total: number;
    readonly ready: number;
    /** Still starting for the first time. */
    readonly starting: number;
    /** An operator drained them. */
    readonly drained: number;
  };
  readonly slots: { readonly total: number; readonly free: number };
  /** What its requests wait for while it is not on the device that it shares. */
  readonly awaited?: string | undefined;
  /** Requests per second over the last minute. */
  readonly rates: ModelRates;
}

/** All that the rule looks at. */
export interface GatewayLoad {
  readonly draining: boolean;
  /** `text`: why it is down. */
  readonly dependencies: readonly {
    readonly name: string;
    readonly state: 'up' | 'down' | 'unknown';
    readonly text: string;
  }[];
  /** Of the data folder; undefined: not known. */
  readonly freeBytes?: number;
  readonly models: readonly ModelLoad[];
}

export const BOTTLENECKS = [
  'draining',
  'disk_full',
  'dependency_down',
  'model_away',
  'no_worker',
  'workers_lost',
  'requests_fail',
  'tenant_floods',
  'queue_grows',
  'slots_full',
] as const;
type BottleneckKind = (typeof BOTTLENECKS)[number];

interface Bottleneck {
  readonly kind: BottleneckKind;
  /** Null: it concerns all models. */
  readonly model: string | null;
  /** One or two sentences: what limits the gateway now, and what would help. */
  readonly text: string;
}

/** Uploads and batches fail soon below this much. */
const LOW_DISK_BYTES = 256 * 1024 * 1024;
/** Share of a queue from which one tenant is the cause, and the least that counts. */
const FLOOD_SHARE = 0.75;
const FLOOD_WAITING = 10;
/** Growth below this is noise. */
const GROWTH_PER_S = 0.2;
/**
 * Share of what leaves that fails, and failures per second (three in a minute), from
 * which it is a bottleneck.
 */
const FAILING_SHARE = 0.1;
const FAILING_PER_S = 0.05;

/** What it says of the model, after its name; undefined: it is not met. */
type ModelRule = (model: ModelLoad) => string | undefined;

/**
 * What limits the gateway most now; undefined: nothing does. What stops everything comes
 * first, then the model rules in the order of `MODEL_RULES`; of several models that one
 * rule meets, the one whose oldest request waits longest.
 */
export function bottleneckOf(load: GatewayLoad): Bottleneck | undefined {
  return ofGateway(load) ?? ofModels(load.models);
}

function ofGateway(load: GatewayLoad): Bottleneck | undefined {
  const { draining, freeBytes, dependencies } = load;
  const all = (kind: BottleneckKind, text: string) => ({ kind, model: null, text });
  if (draining)
    return all(
      'draining',
      'This gateway is shutting down: it finishes what runs and accepts nothing new.',
    );
  if (freeBytes !== undefined && freeBytes < LOW_DISK_BYTES)
    return all(
      'disk_full',
      `The disk of the data folder has ${Math.floor(freeBytes / 1024 / 1024)} MiB left: uploads and batches fail. ` +
        'Delete files or move data.dir to a larger disk.',
    );
  const down = dependencies.find(({ state }) => state === 'down');
  if (down)
    return all(
      'dependency_down',
      `${down.name} is down: ${sentence(down.text)} Repair it or its connection.`,
    );
  return undefined;
}

function ofModels(models: readonly ModelLoad[]): Bottleneck | undefined {
  const ordered = [...models].sort((a, b) => b.oldestWaitMs - a.oldestWaitMs);
  for (const [kind, rule] of MODEL_RULES) {
    for (const model of ordered) {
      const text = rule(model);
      if (text) return { kind, model: model.id, text: `${model.id}: ${text}` };
    }
  }
  return undefined;
}

const modelAway: ModelRule = ({ awaited, waiting }) =>
  awaited !== undefined && waiting > 0
    ? `${requests(waiting)} ${wait(waiting)}: ${awaited}.`
    : undefined;

/** Loading is a bottleneck only for requests that wait for it. */
const noWorker: ModelRule = ({ expected, reason, waiting, workers }) => {
  const { total, ready, starting, drained } = workers;
  if (ready > 0 || !expected || (waiting === 0 && starting > 0)) return undefined;
  const queue = waiting === 0 ? 'requests would wait' : `${requests(waiting)} ${wait(waiting)}`;
  if (total > 0 && drained === total)
    return `all of its workers are drained; ${queue}. Resume one of them.`;
  if (starting > 0)
    return `its workers are still starting; ${queue}. It serves as soon as one is ready.`;
  const why = reason === undefined ? '' : ` (${reason.replace(/\.$/, '')})`;
  return `no worker is ready${why}; ${queue}. Read the log of its workers and restart or replace them.`;
};

const workersLost: ModelRule = ({ waiting, rates, workers }) => {
  const { total, ready, starting, drained } = workers;
  const lost = total - ready - starting - drained;
  if (lost <= 0 || ready === 0 || waiting === 0) return undefined;
  const are = `${lost} of ${total} workers ${lost === 1 ? 'is' : 'are'} lost`;
  return `${are}; ${trend(waiting, rates)}. Add a worker or shed load.`;
};

const requestsFail: ModelRule = ({ rates }) => {
  const { failed, commonestFailure: code } = rates;
  const left = leaving(rates);
  if (!code || failed < FAILING_PER_S || failed / left < FAILING_SHARE) return undefined;
  const help =
    ERROR_REGISTRY[code].status < 500
      ? 'Their callers send what is rejected: look at these requests.'
      : 'Look at these requests and at the log of its workers.';
  const share = `${perSecond(failed)} of ${perSecond(left)} that end`;
  return `requests fail (${share}), most of them with ${code}. ${help}`;
};

/** Where all are of the default tenant, there may be no other. */
const tenantFloods: ModelRule = ({ waiting, busiestTenant }) => {
  if (!busiestTenant || waiting < FLOOD_WAITING) return undefined;
  const { tenant } = busiestTenant;
  // The queue and its tenants are not read in the same instant.
  const own = Math.min(busiestTenant.waiting, waiting);
  if (own / waiting < FLOOD_SHARE || (own === waiting && tenant === DEFAULT_TENANT))
    return undefined;
  const help = "Lower that tenant's limits, or add a worker.";
  return `${own} of ${waiting} waiting requests are of tenant ${tenant}. ${help}`;
};

const queueGrows: ModelRule = ({ waiting, rates }) =>
  waiting > 0 && (growth(rates) >= GROWTH_PER_S || rates.refused > 0)
    ? `${trend(waiting, rates)}. Add a worker or shed load.`
    : undefined;

const slotsFull: ModelRule = ({ waiting, slots: { total, free } }) =>
  waiting > 0 && total > 0 && free <= 0
    ? `all ${total} slots are taken and ${requests(waiting)} ${wait(waiting)}, ` +
      'but the queue does not grow. A further worker would shorten the wait.'
    : undefined;

const MODEL_RULES: readonly (readonly [BottleneckKind, ModelRule])[] = [
  ['model_away', modelAway],
  ['no_worker', noWorker],
  ['workers_lost', workersLost],
  ['requests_fail', requestsFail],
  ['tenant_floods', tenantFloods],
  ['queue_grows', queueGrows],
  ['slots_full', slotsFull],
];

const wait = (count: number): string => (count === 1 ? 'waits' : 'wait');

const requests = (count: number): string => `${count} request${count === 1 ? '' : 's'}`;

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Rare things by the minute: `2/min`. */
function perSecond(rate: number): string {
  if (rate > 0 && rate < 0.1) return `${Math.ceil(rate * 60)}/min`;
  return `${rate < 10 ? Number(rate.toFixed(1)) : Math.round(rate)}/s`;
}

/** However they end: what failed or was cancelled has left the queue as well. */
const leaving = ({ completed, failed, cancelled }: ModelRates): number =>
  completed + failed + cancelled;

const growth = (rates: ModelRates): number => rates.arrived - leaving(rates);

function trend(waiting: number, rates: ModelRates): string {
  const by = growth(rates);
  const verb = by >= GROWTH_PER_S ? ' and grows' : by <= -GROWTH_PER_S ? ' and shrinks' : '';
  const failed = rates.failed > 0 ? ` (${perSecond(rates.failed)} failed)` : '';
  const refused = rates.refused > 0 ? `, ${perSecond(rates.refused)} are refused` : '';
  const flow = `${perSecond(rates.arrived)} arrive, ${perSecond(leaving(rates))} leave${failed}${refused}`;
  return `the queue has ${requests(waiting)}${verb && `${verb} by ${perSecond(Math.abs(by))}`}: ${flow}`;
}

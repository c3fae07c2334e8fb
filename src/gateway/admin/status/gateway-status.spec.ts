import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RequestPriority } from '../../../core/request/request-priority.js';
import { settingsFrom } from '../../../platform/config/settings.js';
import { type JobStore } from '../../../platform/database/job-store.js';
import { type DependencyMonitor } from '../../../platform/dependencies/dependency-monitor.js';
import { IntakeGate } from '../../http/intake-gate.js';
import { type EmbeddedProcessor } from '../../jobs/processor/embedded-processor.js';
import { type RequestQueues } from '../../queue/request-queues.js';
import { type QueueDepth } from '../../registry/request-queue.port.js';
import { type SchedulerService } from '../../scheduler/scheduler.service.js';
import { type AllWorkers } from '../../shared-queue/all-workers.js';
import { type ModelView } from '../../worker-pool/worker-view.js';
import { GatewayStatus, StoreStatus } from './gateway-status.js';
import { type RequestHistoryService } from './request-history.service.js';

const COUNTS = { validating: 1, in_progress: 2, finalizing: 4, cancelling: 8 };
const RATES = { arrived: 1.234, completed: 1.2, failed: 0.009, refused: 0, cancelled: 0 };

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'gateway-status-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Known {
  readonly depths?: readonly QueueDepth[];
  readonly model?: object;
  readonly dir?: string;
  readonly accepting?: boolean;
  readonly draining?: boolean;
  readonly isDown?: boolean;
  readonly backlog?: () => Promise<object>;
  readonly processor?: object;
  readonly dependencies?: readonly unknown[];
  readonly awaited?: object;
  readonly byTenant?: Readonly<Record<string, number>>;
}

function statusOf(known: Known = {}) {
  const { depths = [], dir = folder, accepting = true, processor = { state: 'off' } } = known;
  const stores = new StoreStatus(
    settingsFrom({ 'data.dir': dir }),
    {
      backlog: known.backlog ?? (() => Promise.resolve({ byStatus: COUNTS })),
    } as unknown as JobStore,
    {
      isDown: () => known.isDown ?? false,
      states: () => known.dependencies ?? [],
    } as unknown as DependencyMonitor,
    { view: processor } as unknown as EmbeddedProcessor,
  );
  const tenants = new Map(Object.entries(known.byTenant ?? {}));
  const scheduler = {
    accepting,
    waiting: () => new Map(tenants.size > 0 ? [['m', { aged: 3, byTenant: tenants }]] : []),
  };
  const asked: unknown[] = [];
  const awaited = (_: string, priority: unknown) => (asked.push(priority), known.awaited);
  const queues = { depths: () => Promise.resolve(depths), embedded: { awaited } };
  const view = { id: 'm', state: 'loaded', workers: [], ...known.model } as unknown as ModelView;
  const gate = new IntakeGate();
  if (known.draining) gate.onModuleDestroy();
  const status = new GatewayStatus(
    scheduler as unknown as SchedulerService,
    queues as unknown as RequestQueues,
    { models: () => [view] } as unknown as AllWorkers,
    { rates: () => RATES } as unknown as RequestHistoryService,
    stores,
    gate,
  );
  return { status, asked };
}

const found = (known?: Known) => statusOf(known).status.find();
const kindOf = async (known: Known) => (await found(known)).bottleneck?.kind;

const worker = (state: string, free: number, fields: object = {}) => ({
  id: state,
  state,
  slots: { total: 2, free },
  ...fields,
});
const WORKERS = [
  worker('ready', 1),
  worker('busy', 0),
  worker('starting', 0),
  worker('draining', 0, { drained: true }),
  worker('lost', 0),
];
const depth = (fields: object): readonly QueueDepth[] => [
  { model: 'm', realtime: 0, batch: 0, running: 0, ...fields },
];

describe('the status of a model', () => {
  it('counts its queue, workers and slots, and rounds its rates to hundredths', async () => {
    const depths = depth({ realtime: 5, batch: 6, running: 2, oldestWaitMs: 1.6 });
    const { models } = await found({ depths, model: { workers: WORKERS }, byTenant: { a: 1 } });
    expect(models).toEqual([
      {
        id: 'm',
        state: 'loaded',
        waiting: { realtime: 5, batch: 6, aged: 3 },
        oldest_wait_ms: 2,
        in_flight: 2,
        workers: { ready: 2, total: 5, drained: 1 },
        slots: { total: 10, free: 1 },
        rates: { arrived_per_s: 1.23, completed_per_s: 1.2, failed_per_s: 0.01, refused_per_s: 0 },
      },
    ]);
  });

  it('is empty where nothing waits, runs or serves', async () => {
    const { models, bottleneck } = await found({ model: { state: 'unloaded' } });
    expect(models).toMatchObject([
      {
        waiting: { realtime: 0, batch: 0, aged: 0 },
        oldest_wait_ms: 0,
        in_flight: 0,
        workers: { ready: 0, total: 0, drained: 0 },
        slots: { total: 0, free: 0 },
      },
    ]);
    expect(bottleneck).toBeNull();
  });
});

describe('what limits a gateway', () => {
  it.each<[string | undefined, Known]>([
    ['draining', { draining: true }],
    ['draining', { accepting: false }],
    ['no_worker', { model: { state: 'loaded' } }],
    ['no_worker', { model: { state: 'loading' } }],
    ['no_worker', { model: { state: 'failed' } }],
    [undefined, { model: { state: 'unloading' } }],
    [undefined, { model: { state: 'loading', workers: [worker('starting', 0)] } }],
    ['no_worker', { model: { workers: [worker('starting', 0, { drained: true })] } }],
    [
      'model_away',
      { model: { state: 'unloaded' }, awaited: { text: 'loads' }, depths: depth({ batch: 1 }) },
    ],
    ['slots_full', { model: { workers: [worker('busy', 0)] }, depths: depth({ batch: 1 }) }],
  ])('is %p for %j', async (kind, known) => {
    expect(await kindOf(known)).toBe(kind);
  });

  it('is the tenant that has most of the queue', async () => {
    const { bottleneck } = await found({
      depths: depth({ realtime: 6, batch: 4 }),
      model: { workers: [worker('ready', 1)] },
      byTenant: { few: 2, most: 8 },
    });
    expect(bottleneck).toMatchObject({
      kind: 'tenant_floods',
      text: expect.stringContaining('8 of 10 waiting requests are of tenant most'),
    });
  });

  it.each([
    [0, RequestPriority.BATCH],
    [1, RequestPriority.REALTIME],
  ])(
    'with %p realtime requests waiting asks when such work loads the model',
    async (realtime, priority) => {
      const { status, asked } = statusOf({ depths: depth({ realtime, batch: 1 }) });
      await status.find();
      expect(asked).toEqual([priority]);
    },
  );
});

describe('the status of the stores', () => {
  const disk = (state: string) => expect.objectContaining({ name: 'disk', state });

  it('counts batches that run and that wait', async () => {
    expect((await found()).batches).toEqual({ running: 14, waiting: 1 });
  });

  it.each<[string, Known]>([
    ['is down', { isDown: true }],
    ['fails', { backlog: () => Promise.reject(new Error('away')) }],
    ['hangs', { backlog: () => new Promise(() => undefined) }],
  ])('has no batches while the database %s', async (_, known) => {
    expect((await found(known)).batches).toBeNull();
  });

  it('says how much room the disk has, or that it does not answer', async () => {
    expect((await found()).dependencies).toEqual([
      { name: 'disk', state: 'up', text: expect.stringMatching(/^\d+\.\d GiB free\.$/) },
    ]);
    expect((await found({ dir: join(folder, 'none', 'none') })).dependencies).toEqual([
      disk('unknown'),
    ]);
  });

  it.each([
    ['ready', 'up', ''],
    ['down', 'down', 'it crashed'],
    ['starting', 'unknown', ''],
  ])('lists a batch processor of its own that is %s', async (state, shown, text) => {
    const processor = { state, ...(text !== '' && { problem: text }) };
    const { dependencies, bottleneck } = await found({ processor, model: { state: 'unloaded' } });
    expect(dependencies).toEqual([{ name: 'batch_processor', state: shown, text }, disk('up')]);
    expect(bottleneck?.kind).toBe(shown === 'down' ? 'dependency_down' : undefined);
  });

  it('lists what is probed, with the reason', async () => {
    const dependencies = [
      ['redis', { status: 'down', error: new Error('refused') }],
      ['database', { status: 'up' }],
    ];
    expect((await found({ dependencies })).dependencies.slice(0, 2)).toEqual([
      { name: 'redis', state: 'down', text: 'refused' },
      { name: 'database', state: 'up', text: '' },
    ]);
  });
});

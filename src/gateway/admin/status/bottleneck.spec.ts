import { describe, expect, it } from '@jest/globals';
import { type ErrorCode } from '../../../core/errors/domain-error.js';
import { type ModelRates } from '../../../core/status/request-history.js';
import { bottleneckOf, type GatewayLoad } from './bottleneck.js';

type ModelLoad = GatewayLoad['models'][number];

const rates = (overrides: Partial<ModelRates>): ModelRates => ({
  arrived: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  refused: 0,
  ...overrides,
});

const model = (overrides: Partial<ModelLoad> = {}): ModelLoad => ({
  id: 'whisper',
  expected: true,
  waiting: 0,
  oldestWaitMs: 0,
  workers: { total: 3, ready: 3, starting: 0, drained: 0 },
  slots: { total: 6, free: 6 },
  rates: rates({}),
  ...overrides,
});

const load = (models: readonly ModelLoad[], overrides: Partial<GatewayLoad> = {}): GatewayLoad => ({
  draining: false,
  dependencies: [],
  freeBytes: 1e12,
  models,
  ...overrides,
});

const workers = (overrides: Partial<ModelLoad['workers']>) => ({
  total: 3,
  ready: 3,
  starting: 0,
  drained: 0,
  ...overrides,
});

const of = (overrides: Partial<ModelLoad>) => bottleneckOf(load([model(overrides)]));

describe('bottleneckOf', () => {
  it('is undefined when nothing waits', () => {
    expect(of({})).toBeUndefined();
    expect(of({ rates: rates({ arrived: 9, completed: 8 }) })).toBeUndefined();
  });

  it('is undefined while a model that nobody wants is unloaded or loads', () => {
    expect(of({ expected: false, workers: workers({ ready: 0 }) })).toBeUndefined();
    expect(of({ workers: workers({ ready: 0, starting: 3 }) })).toBeUndefined();
  });

  it('names lost workers and the growth of the queue', () => {
    const growing = rates({ arrived: 10, completed: 6 });
    expect(of({ waiting: 40, workers: workers({ ready: 1 }), rates: growing })).toEqual({
      kind: 'workers_lost',
      model: 'whisper',
      text:
        'whisper: 2 of 3 workers are lost; the queue has 40 requests and grows by 4/s: 10/s arrive, 6/s leave. ' +
        'Add a worker or shed load.',
    });
  });

  it.each([{ drained: 2 }, { starting: 2 }])('does not count %j workers as lost', others => {
    const found = of({
      waiting: 4,
      workers: workers({ ready: 1, ...others }),
      slots: { total: 2, free: 0 },
    });
    expect(found?.kind).toBe('slots_full');
  });

  it('says why no worker is ready, also before a request waits', () => {
    const none = { workers: workers({ ready: 0 }), reason: 'whisper-0: out of memory.' };
    expect(of(none)?.text).toBe(
      'whisper: no worker is ready (whisper-0: out of memory); requests would wait. ' +
        'Read the log of its workers and restart or replace them.',
    );
    expect(of({ ...none, waiting: 1 })?.text).toContain('; 1 request waits.');
  });

  it('says that an operator drained all workers', () => {
    expect(of({ waiting: 2, workers: workers({ ready: 0, drained: 3 }) })).toMatchObject({
      kind: 'no_worker',
      text: 'whisper: all of its workers are drained; 2 requests wait. Resume one of them.',
    });
  });

  it('says that requests wait for workers that start', () => {
    expect(of({ waiting: 2, workers: workers({ ready: 0, starting: 3 }) })?.text).toContain(
      'still starting',
    );
  });

  const growing = rates({ arrived: 9, completed: 1 });
  const flooded = (own: number, waiting: number, tenant = 'acme') =>
    of({ waiting, busiestTenant: { tenant, waiting: own }, rates: growing });

  it('names the tenant that has 75 % of a queue of at least 10', () => {
    expect(flooded(90, 100)).toMatchObject({
      kind: 'tenant_floods',
      text: "whisper: 90 of 100 waiting requests are of tenant acme. Lower that tenant's limits, or add a worker.",
    });
    expect([75, 74].map(own => flooded(own, 100)?.kind)).toEqual(['tenant_floods', 'queue_grows']);
    expect([10, 9].map(waiting => flooded(8, waiting)?.kind)).toEqual([
      'tenant_floods',
      'queue_grows',
    ]);
  });

  it('names the tenant that holds all of the queue, but not the one that may be the only one', () => {
    expect(flooded(100, 100)).toMatchObject({
      kind: 'tenant_floods',
      text: expect.stringContaining('100 of 100 waiting requests are of tenant acme.'),
    });
    expect(flooded(100, 100, 'default')?.kind).toBe('queue_grows');
    expect(flooded(90, 100, 'default')?.kind).toBe('tenant_floods');
  });

  it('never counts more requests of a tenant than there are: they are read one after the other', () => {
    expect(flooded(170, 169)?.text).toContain('169 of 169 waiting requests');
  });

  it('says that the queue grows by 0.2/s or more, what arrives, leaves, fails and is refused', () => {
    const grow = (change: Partial<ModelRates>) =>
      of({
        waiting: 50,
        slots: { total: 6, free: 0 },
        rates: rates({ arrived: 12.34, completed: 10, ...change }),
      });
    expect(grow({ failed: 0.04, refused: 0.5 })?.text).toBe(
      'whisper: the queue has 50 requests and grows by 2.3/s: 12/s arrive, 10/s leave (3/min failed), ' +
        '0.5/s are refused. Add a worker or shed load.',
    );
    expect([2.13, 2.15].map(cancelled => grow({ cancelled })?.kind)).toEqual([
      'queue_grows',
      'slots_full',
    ]);
    expect(grow({ cancelled: 2.5, refused: 0.01 })?.text).toContain(
      'has 50 requests: 12/s arrive, 13/s leave, 1/min are',
    );
    expect(grow({ cancelled: 3, refused: 0.01 })?.text).toContain('shrinks by 0.7/s');
  });

  it('does not count what failed or was cancelled as growth', () => {
    expect(
      of({ waiting: 3, rates: rates({ arrived: 9, completed: 3, cancelled: 6 }) }),
    ).toBeUndefined();
    expect(of({ waiting: 3, rates: rates({ arrived: 9, failed: 9 }) })).toBeUndefined();
  });

  it('says that a tenth of the requests fail, at least 3 a minute, with the commonest code', () => {
    const failing = (
      failed: number,
      completed: number,
      commonestFailure: ErrorCode = 'engine_failed',
    ) => of({ rates: rates({ arrived: 10, completed, failed, commonestFailure }) });
    expect(failing(3, 7)).toEqual({
      kind: 'requests_fail',
      model: 'whisper',
      text:
        'whisper: requests fail (3/s of 10/s that end), most of them with engine_failed. ' +
        'Look at these requests and at the log of its workers.',
    });
    expect(failing(3, 7, 'invalid_audio')?.text).toContain(
      'with invalid_audio. Their callers send what is rejected',
    );
    expect([9, 9.1].map(completed => failing(1, completed)?.kind)).toEqual([
      'requests_fail',
      undefined,
    ]);
    expect([0.05, 0.049].map(failed => failing(failed, 0)?.kind)).toEqual([
      'requests_fail',
      undefined,
    ]);
  });

  it('says that all slots are taken when the queue does not grow', () => {
    const even = rates({ arrived: 5, completed: 5 });
    expect(of({ waiting: 3, slots: { total: 6, free: 0 }, rates: even })).toMatchObject({
      kind: 'slots_full',
      text:
        'whisper: all 6 slots are taken and 3 requests wait, but the queue does not grow. ' +
        'A further worker would shorten the wait.',
    });
    expect(of({ waiting: 3, slots: { total: 6, free: 1 }, rates: even })).toBeUndefined();
  });

  it('names the model whose oldest request waits longest, and the worse trouble first', () => {
    const growing = { waiting: 5, rates: rates({ arrived: 2, completed: 1 }) };
    const models = [
      model({ id: 'a', ...growing, oldestWaitMs: 10 }),
      model({ id: 'b', ...growing, oldestWaitMs: 20 }),
    ];
    expect(bottleneckOf(load(models))?.model).toBe('b');
    const lost = model({ id: 'c', waiting: 1, workers: workers({ ready: 2 }) });
    expect(bottleneckOf(load([...models, lost]))?.model).toBe('c');
  });

  it('names what stops everything first: shutdown, the disk, a dependency', () => {
    const flood = [model({ waiting: 9, rates: rates({ arrived: 9 }) })];
    const dependencies = [
      { name: 'database', state: 'up', text: '' },
      { name: 'redis', state: 'down', text: 'connect ECONNREFUSED' },
    ] as const;
    const all = { draining: true, freeBytes: 5 * 1024 * 1024, dependencies };
    expect(bottleneckOf(load(flood, all))?.kind).toBe('draining');
    expect(bottleneckOf(load(flood, { ...all, draining: false }))).toMatchObject({
      kind: 'disk_full',
      model: null,
      text: expect.stringContaining('has 5 MiB left'),
    });
    const atBytes = (freeBytes: number) => bottleneckOf(load([], { freeBytes }))?.kind;
    expect([268_435_455, 268_435_456].map(atBytes)).toEqual(['disk_full', undefined]);
    expect(bottleneckOf(load(flood, { dependencies }))).toEqual({
      kind: 'dependency_down',
      model: null,
      text: 'redis is down: connect ECONNREFUSED. Repair it or its connection.',
    });
  });
});

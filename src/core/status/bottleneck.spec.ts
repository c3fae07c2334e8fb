import { describe, expect, it } from '@jest/globals';
import { bottleneckOf, type GatewayLoad, type ModelLoad } from './bottleneck.js';

const model = (overrides: Partial<ModelLoad> = {}): ModelLoad => ({
  ...{ id: 'whisper', expected: true, waiting: 0, oldestWaitMs: 0 },
  workers: { total: 3, ready: 3, starting: 0, drained: 0 },
  slots: { total: 6, free: 6 },
  rates: { arrived: 0, completed: 0, refused: 0 },
  ...overrides,
});

const load = (models: readonly ModelLoad[], overrides: Partial<GatewayLoad> = {}): GatewayLoad => ({
  ...{ draining: false, dependencies: [], freeBytes: 1e12, models },
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
    expect(of({ rates: { arrived: 9, completed: 8, refused: 0 } })).toBeUndefined();
  });

  it('is undefined while a model that nobody wants is unloaded or loads', () => {
    expect(of({ expected: false, workers: workers({ ready: 0 }) })).toBeUndefined();
    expect(of({ workers: workers({ ready: 0, starting: 3 }) })).toBeUndefined();
  });

  it('names lost workers and the growth of the queue', () => {
    const rates = { arrived: 10, completed: 6, refused: 0 };
    expect(of({ waiting: 40, workers: workers({ ready: 1 }), rates })).toEqual({
      kind: 'workers_lost',
      model: 'whisper',
      text: 'whisper: 2 of 3 workers are lost; the queue has 40 requests and grows by 4/s. Add a worker or shed load.',
    });
  });

  it('does not count drained workers as lost', () => {
    const found = of({ waiting: 4, workers: workers({ ready: 1, drained: 2 }), slots: { total: 2, free: 0 } });
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
    expect(of({ waiting: 2, workers: workers({ ready: 0, starting: 3 }) })?.text).toContain('still starting');
  });

  it('names the tenant that has most of a queue that others wait in as well', () => {
    const rates = { arrived: 9, completed: 1, refused: 0 };
    const flooded = { waiting: 100, busiestTenant: { tenant: 'acme', waiting: 90 }, rates };
    expect(of(flooded)).toMatchObject({
      kind: 'tenant_floods',
      text: "whisper: 90 of 100 waiting requests are of tenant acme. Lower that tenant's limits, or add a worker.",
    });
    expect(of({ ...flooded, busiestTenant: { tenant: 'acme', waiting: 100 } })?.kind).toBe('queue_grows');
    expect(of({ ...flooded, busiestTenant: { tenant: 'acme', waiting: 50 } })?.kind).toBe('queue_grows');
  });

  it('says that the queue grows, and that requests are refused', () => {
    expect(of({ waiting: 50, rates: { arrived: 12.34, completed: 10, refused: 0.5 } })?.text).toBe(
      'whisper: the queue has 50 requests and grows by 2.3/s; 0.5/s are refused. Add a worker or shed load.',
    );
  });

  it('says that all slots are taken when the queue does not grow', () => {
    const rates = { arrived: 5, completed: 5, refused: 0 };
    expect(of({ waiting: 3, slots: { total: 6, free: 0 }, rates })).toMatchObject({
      kind: 'slots_full',
      text:
        'whisper: all 6 slots are taken and 3 requests wait, but the queue does not grow. ' +
        'A further worker would shorten the wait.',
    });
    expect(of({ waiting: 3, slots: { total: 6, free: 1 }, rates })).toBeUndefined();
  });

  it('names the model whose oldest request waits longest, and the worse trouble first', () => {
    const growing = { waiting: 5, rates: { arrived: 2, completed: 1, refused: 0 } };
    const models = [model({ id: 'a', ...growing, oldestWaitMs: 10 }), model({ id: 'b', ...growing, oldestWaitMs: 20 })];
    expect(bottleneckOf(load(models))?.model).toBe('b');
    const lost = model({ id: 'c', waiting: 1, workers: workers({ ready: 2 }) });
    expect(bottleneckOf(load([...models, lost]))?.model).toBe('c');
  });

  it('names what stops everything first: shutdown, the disk, a dependency', () => {
    const flood = [model({ waiting: 9, rates: { arrived: 9, completed: 0, refused: 0 } })];
    const dependencies = [
      { name: 'database', down: false, text: '' },
      { name: 'redis', down: true, text: 'connect ECONNREFUSED' },
    ];
    const all = { draining: true, freeBytes: 5 * 1024 * 1024, dependencies };
    expect(bottleneckOf(load(flood, all))?.kind).toBe('draining');
    expect(bottleneckOf(load(flood, { ...all, draining: false }))).toMatchObject({
      kind: 'disk_full',
      model: null,
      text: expect.stringContaining('has 5 MiB left'),
    });
    expect(bottleneckOf(load(flood, { dependencies }))).toEqual({
      kind: 'dependency_down',
      model: null,
      text: 'redis is down: connect ECONNREFUSED. Repair it or its connection.',
    });
  });
});

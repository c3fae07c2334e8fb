import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { generation, innerModel, InnerWorker } from '../../../test/support/inner-worker.js';
import { makePool, modelSpec } from '../../../test/support/pool-harness.js';
import { aKey } from '../../../test/support/requests.js';
import { until } from '../../../test/support/waiting.js';
import { ModelList } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type StreamHandle } from '../../worker-client/stream-handle.js';
import { type PoolActivity } from './pool-activity.js';
import { type WorkerPoolService } from './worker-pool.service.js';

it('follows the models: what is new is added, what is another is replaced, what is gone is removed', async () => {
  let models = ['same', 'other', 'gone'].map(id => modelSpec({ id }));
  const list = new ModelList(models, () => models);
  const pool = makePool({ models: list });
  const [same, other] = ['same', 'other'].map(id => pool.of(id));
  models = [
    modelSpec({ id: 'same' }),
    modelSpec({ id: 'other', languages: ['en'] }),
    modelSpec({ id: 'new' }),
  ];
  list.reload();
  await until(() => !pool.of('gone') && pool.of('other') !== other);
  expect([pool.of('same'), pool.of('other')?.id, pool.of('new')?.id]).toEqual([
    same,
    'other',
    'new',
  ]);
});

describe('the pool', () => {
  let inners: InnerWorker[];
  let streams: number;
  let pool: WorkerPoolService;

  beforeEach(() => void ([inners, streams] = [[], 2]));

  function made(...models: ModelSpec[]): WorkerPoolService {
    const inner = (spec: { readonly model: ModelSpec }) => () => {
      inners.push(new InnerWorker({ model: spec.model.id, streams }));
      return inners.at(-1)!;
    };
    return (pool = makePool({ models, launch: { inner } }));
  }
  async function started(...models: ModelSpec[]): Promise<WorkerPoolService> {
    made(...models);
    await pool.start();
    await until(() => pool.workers().some(({ state }) => state === 'ready'), { limitMs: 5000 });
    await new Promise(setImmediate);
    return pool;
  }

  it('starts its models once, also those that are added later', async () => {
    let models = [innerModel()];
    const list = new ModelList(models, () => models);
    pool = makePool({ models: list, launch: { inner: () => () => new InnerWorker() } });
    const boot = jest.spyOn(pool.of('m')!, 'boot');
    models = [...models, innerModel({ id: 'n' })];
    list.reload();
    expect(pool.of('n')?.life).toBe('unloaded');
    await pool.onApplicationBootstrap();
    await pool.start();
    expect([boot.mock.calls.length, pool.of('n')?.life]).toEqual([1, 'loaded']);
    models = [...models, innerModel({ id: 'o' })];
    list.reload();
    expect(pool.of('o')?.life).toBe('loaded');
    await pool.close();
    models = [...models, innerModel({ id: 'p' })];
    list.reload();
    expect(pool.of('p')?.life).toBe('unloaded');
  });

  it('offers and leases slots of a model, and starts one that a request waits for', async () => {
    await started(innerModel(), innerModel({ id: 'n', autostart: 'on_request' }));
    const told: string[] = [];
    pool.capacity$.subscribe(model => told.push(model));
    expect([pool.offer('m')?.workerId, pool.offer('unknown')]).toEqual(['m-0', undefined]);
    expect([pool.offer('n'), pool.of('n')?.life]).toEqual([undefined, 'loaded']);
    const [lease] = pool.lease('m-0', 2, undefined, 2);
    expect(pool.of('m')?.running).toBe(2);
    lease?.release();
    expect(told).toContain('m');
    expect(() => pool.lease('m-9', 1)).toThrow('no worker m-9');
  });

  it('sends a request to its worker, and tells what that executed', async () => {
    await started(innerModel());
    const executed: unknown[] = [];
    pool.executed$.subscribe(one => executed.push(one));
    const { reply } = pool.execute({ workerId: 'm-0', ...generation() });
    inners[0]?.calls[0]?.resolve();
    expect(await reply).toMatchObject({ kind: 'generation' });
    await until(() => executed.length === 1);
    const gone = pool.execute({ workerId: 'm-9', ...generation() }).reply;
    await expect(gone).rejects.toMatchObject({ code: 'worker_lost' });
  });

  it('cancels at the worker that has a request, and nowhere else', async () => {
    await started(innerModel());
    const sent = generation('r');
    const { reply } = pool.execute({ workerId: 'm-0', ...sent });
    const failed = reply.catch((error: unknown) => error);
    expect(await pool.cancel('m-0', sent.request.key, 'client')).toBe(true);
    expect(await failed).toMatchObject({ code: 'request_cancelled' });
    expect(await pool.cancel('m-9', aKey('r'), 'client')).toBe(false);
  });

  it('opens live streams where most places are free', async () => {
    await started(innerModel({ replicas: 2 }));
    const host = pool.of('m')!.roster.get('m-0')!;
    const stream = {} as StreamHandle;
    jest.spyOn(host, 'openStream').mockReturnValue(stream);
    expect([pool.streamHost('m'), pool.openStream('m-0', {} as never)]).toEqual(['m-0', stream]);
    const leases = host.streams!.lease(1);
    expect(pool.streamHost('m')).toBe('m-1');
    for (const lease of leases) lease.release();
    expect(pool.streamHost('m')).toBe('m-0');
    expect(() => pool.openStream('m-9', {} as never)).toThrow(
      expect.objectContaining({ code: 'worker_lost' }),
    );
  });

  it('refuses live streams that find no place, none at all, or no worker', async () => {
    const refusal = (model: string): unknown => {
      try {
        return pool.streamHost(model);
      } catch (error) {
        return error;
      }
    };
    const load = { autostart: 'on_request' } as const;
    await started(innerModel(), innerModel({ id: 'n', ...load }));
    pool.of('m')!.roster.get('m-0')!.streams!.lease(2);
    expect(refusal('m')).toMatchObject({
      code: 'queue_full',
      retryAfterMs: 1000,
      message: expect.stringContaining('All 2'),
    });
    expect([refusal('n'), pool.of('n')?.life]).toMatchObject([
      { code: 'no_worker', retryAfterMs: 1000 },
      'loaded',
    ]);
    expect(refusal('unknown')).toMatchObject({ code: 'no_worker' });
    streams = 0;
    await started(innerModel());
    expect(refusal('m')).toMatchObject({ code: 'unsupported_task' });
    await started(innerModel({ replicas: [{ role: 'file' }] }));
    expect(refusal('m')).toMatchObject({ code: 'no_worker' });
    made(innerModel()).of('m')!.place.refuse('too large', Infinity);
    expect(refusal('m')).toMatchObject({ code: 'model_load_failed' });
  });

  it('takes orders for workers that it runs, and says why not for others', async () => {
    await started(innerModel({ addresses: ['127.0.0.1:9'] }));
    pool.order('m-0', 'drain');
    expect(pool.workers()[0]?.drained).toBe(true);
    const refused = (id: string, order: 'drain' | 'restart'): unknown => {
      try {
        return pool.order(id, order);
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(refused('m@127.0.0.1:9', 'restart')).toContain('its address only: restart');
    expect(refused('m-9', 'restart')).toContain('the shared queue: restart m-9 where it runs');
    expect(refused('m-9', 'drain')).toContain('not announced itself');
    expect([pool.log('m-0')?.last(9).length, pool.log('m-9')]).toEqual([
      expect.any(Number),
      undefined,
    ]);
  });

  it('hands over models on devices, and keeps the others', async () => {
    await started(innerModel());
    const placed = innerModel({ id: 'n', device: [{ id: 'gpu0' }] as never, command: ['true'] });
    made(innerModel(), placed);
    await pool.start();
    await pool.handOver();
    expect(['m', 'n'].map(id => pool.of(id)?.isHeld)).toEqual([false, true]);
  });

  it('closes once, with all that it tells', async () => {
    await started(innerModel());
    const ended: string[] = [];
    const complete = (name: string) => ({ complete: () => ended.push(name) });
    pool.capacity$.subscribe(complete('capacity'));
    pool.activity$.subscribe(complete('activity') as Partial<{ next(one: PoolActivity): void }>);
    pool.executed$.subscribe(complete('executed'));
    const closed = pool.close();
    expect(pool.close()).toBe(closed);
    await closed;
    expect([ended, inners[0]?.isClosed]).toEqual([['capacity', 'activity', 'executed'], true]);
  });

  it('keeps the workers of a model that is replaced until their work has ended', async () => {
    let models = [innerModel()];
    const list = new ModelList(models, () => models);
    pool = makePool({ models: list, launch: { inner: () => () => new InnerWorker() } });
    await pool.start();
    await until(() => pool.of('m')!.hasReady, { limitMs: 5000 });
    const old = pool.of('m');
    const [lease] = pool.lease('m-0', 1);
    const told: string[] = [];
    pool.capacity$.subscribe(model => told.push(model));
    models = [innerModel({ languages: ['en'] })];
    list.reload();
    models = [innerModel({ languages: ['de'] })];
    list.reload();
    await new Promise(setImmediate);
    expect(pool.of('m')).toBe(old);
    lease?.release();
    await until(() => pool.of('m') !== old, { limitMs: 5000 });
    expect([pool.of('m')?.life, told.includes('m')]).toEqual(['loaded', true]);
  });
});

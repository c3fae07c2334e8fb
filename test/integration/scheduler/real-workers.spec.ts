import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { RequestPriority } from '../../../src/core/request/request-priority.js';
import { LifecycleModule } from '../../../src/gateway/lifecycle/lifecycle.module.js';
import { ShutdownDrain } from '../../../src/gateway/lifecycle/shutdown-drain.js';
import { type SettledRequest } from '../../../src/gateway/registry/submitted-request.js';
import { RequestIntake } from '../../../src/gateway/scheduler/request-intake.js';
import { SchedulerModule } from '../../../src/gateway/scheduler/scheduler.module.js';
import { SchedulerService } from '../../../src/gateway/scheduler/scheduler.service.js';
import { WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { ClockModule } from '../../../src/platform/clock/clock.module.js';
import { ConfigModule } from '../../../src/platform/config/config.module.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { EventsModule } from '../../../src/platform/events/events.module.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { modelSpec, transcribeTask, workerThat } from '../../support/pool-harness.js';
import { aRef } from '../../support/requests.js';
import { executionOf, ids } from '../../support/scheduler-harness.js';

describe('scheduler and real gRPC workers', () => {
  let app: INestApplicationContext;
  let scheduler: SchedulerService;
  let pool: WorkerPoolService;
  let workers: FixtureWorker[];

  const isUp = ({ state }: { state: string }) => state === 'ready' || state === 'busy';

  beforeEach(async () => {
    workers = [new FixtureWorker({ maxBatch: 8 }), new FixtureWorker({ maxBatch: 8 })];
    const ports = await Promise.all(workers.map(worker => worker.start()));
    const model = modelSpec({ addresses: ports.map(port => `127.0.0.1:${port}`) });
    const settings = settingsFrom({
      'workers.health_interval_ms': 20,
      'server.shutdown_grace_ms': 200,
    });
    const testing = await Test.createTestingModule({
      imports: [
        ConfigModule.forRoot(settings, [model]),
        ClockModule,
        EventsModule,
        SchedulerModule,
        LifecycleModule,
      ],
    }).compile();
    testing.useLogger(false);
    app = await testing.init();
    scheduler = app.get(SchedulerService);
    pool = app.get(WorkerPoolService, { strict: false });
    for (const port of ports)
      await workerThat(pool, worker => isUp(worker) && worker.address === `127.0.0.1:${port}`);
  });

  afterEach(async () => {
    workers.forEach(worker => worker.releaseAll());
    await app.close();
    workers.forEach(worker => worker.stop());
  });

  const submit = (id: string, prompt: string = script.hold): Promise<SettledRequest> =>
    app.get(RequestIntake).submit({
      ...{
        id,
        model: 'm',
        priority: RequestPriority.BATCH,
        bytes: 100,
        audioDurationS: 1,
      },
      payload: transcribeTask(prompt, () => Promise.resolve(Buffer.alloc(100))),
    }).settled;

  const slotsInUse = () => pool.workers().reduce((sum, { slots }) => sum + slots.inUse, 0);

  /** The worker that was given the requests; the other one got none. */
  const chosen = async (count: number) => {
    const [first, second] = workers as [FixtureWorker, FixtureWorker];
    await Promise.race([first.arrivals(count), second.arrivals(count)]);
    return first.received.length > 0
      ? { busy: first, free: second }
      : { busy: second, free: first };
  };

  const slotsFreed = async () => {
    while (slotsInUse() > 0) await new Promise(resolve => setImmediate(resolve));
  };

  it('take a group of eight and answer each of its requests', async () => {
    const settled = ids(8).map(id => submit(id, ''));
    for (const { settlement } of await Promise.all(settled)) {
      expect(settlement).toMatchObject({
        status: 'completed',
        reply: { kind: 'transcript' },
      });
      expect(executionOf(settlement)).toMatchObject({
        batchSize: 1,
        batchId: 'batch-1',
      });
    }
    await slotsFreed();
  });

  it('lose a connection with eight in flight: eight answers from the other worker, four at a time', async () => {
    const settled = ids(8).map(id => submit(id));
    const { busy, free } = await chosen(8);
    busy.stop();
    for (const arrived of [4, 8]) {
      await free.arrivals(arrived);
      free.releaseAll();
    }
    const all = await Promise.all(settled);
    expect(all.map(({ settlement, attempts }) => [settlement.status, attempts])).toEqual(
      Array(8).fill(['completed', 2]),
    );
    expect([busy.received.length, free.received.length]).toEqual([8, 8]);
  });

  it('hear of a cancel, and their slot is free when they have let go', async () => {
    const settled = submit('r1');
    const { busy } = await chosen(1);
    expect(slotsInUse()).toBe(1);
    const heard = once(busy, 'cancelled');
    expect(await scheduler.cancel(aRef('r1'), 'client')).toBe(true);
    expect(await heard).toEqual(['r1']);
    expect((await settled).settlement).toMatchObject({ status: 'cancelled' });
    await slotsFreed();
  });

  it('keep the slot while they are deaf to the cancel', async () => {
    const settled = submit('r1', script.deaf);
    const { busy } = await chosen(1);
    await scheduler.cancel(aRef('r1'), 'disconnect');
    expect((await settled).settlement.status).toBe('cancelled');
    expect(slotsInUse()).toBe(1);
    busy.release('r1');
    await slotsFreed();
  });

  it('give permanent errors, which touch no neighbour', async () => {
    const [bad, good] = await Promise.all([
      submit('bad', script.fail('invalid_audio')),
      submit('good', ''),
    ]);
    expect(bad.settlement).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_audio' },
    });
    expect(good.settlement.status).toBe('completed');
  });

  it('are drained: what they finish is answered, what they do not is stopped, all within the grace', async () => {
    const settled = [submit('finishes'), submit('hangs')];
    const { busy } = await chosen(2);
    const drained = app.get(ShutdownDrain).beforeApplicationShutdown();
    busy.release('finishes');
    await drained;
    const [finishes, hangs] = await Promise.all(settled);
    expect(finishes!.settlement.status).toBe('completed');
    expect(hangs!.settlement).toMatchObject({
      status: 'failed',
      error: { code: 'shutting_down' },
    });
    expect(busy.cancelled).toEqual(['hangs']);
  });
});

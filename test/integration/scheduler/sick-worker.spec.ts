import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DomainError } from '../../../src/core/errors/domain-error.js';
import { RequestPriority } from '../../../src/core/request/request-priority.js';
import { LifecycleModule } from '../../../src/gateway/lifecycle/lifecycle.module.js';
import { type SettledRequest } from '../../../src/gateway/registry/submitted-request.js';
import { RequestIntake } from '../../../src/gateway/scheduler/request-intake.js';
import { SchedulerModule } from '../../../src/gateway/scheduler/scheduler.module.js';
import { WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { ClockModule } from '../../../src/platform/clock/clock.module.js';
import { ConfigModule } from '../../../src/platform/config/config.module.js';
import { type SettingPath, settingsFrom } from '../../../src/platform/config/settings.js';
import { EventsModule } from '../../../src/platform/events/events.module.js';
import { FixtureWorker } from '../../support/fixture-worker.js';
import { isReady, modelSpec, transcribeTask, workerThat } from '../../support/pool-harness.js';
import { ids } from '../../support/scheduler-harness.js';

const REFUSALS = 5;

describe('a worker that refuses everything though it is healthy', () => {
  let app: INestApplicationContext;
  let workers: FixtureWorker[];
  let addresses: string[];
  let pool: WorkerPoolService;

  async function start(
    count: number,
    settings: Partial<Record<SettingPath, number>> = {},
  ): Promise<void> {
    workers = Array.from({ length: count }, () => new FixtureWorker({ maxBatch: 2 }));
    addresses = await Promise.all(workers.map(async worker => `127.0.0.1:${await worker.start()}`));
    const all = settingsFrom({
      ...{ 'workers.health_interval_ms': 20, 'workers.breaker_failures': REFUSALS },
      'workers.breaker_min_ms': 60_000,
      ...settings,
    });
    const testing = await Test.createTestingModule({
      imports: [
        ConfigModule.forRoot(all, [modelSpec({ addresses })]),
        ClockModule,
        EventsModule,
        SchedulerModule,
        LifecycleModule,
      ],
    }).compile();
    testing.useLogger(false);
    app = await testing.init();
    pool = app.get(WorkerPoolService, { strict: false });
    for (const address of addresses)
      await workerThat(pool, view => isReady(view) && view.address === address);
  }

  beforeEach(() => {
    workers = [];
  });
  afterEach(async () => {
    await app.close();
    workers.forEach(worker => worker.stop());
  });

  const submit = (id: string): Promise<SettledRequest> =>
    app.get(RequestIntake).submit({
      ...{
        id,
        model: 'm',
        priority: RequestPriority.REALTIME,
        bytes: 100,
        audioDurationS: 1,
      },
      payload: transcribeTask('', () => Promise.resolve(Buffer.alloc(100))),
    }).settled;

  const view = (at: number) => pool.workers().find(({ address }) => address === addresses[at])!;

  async function oneByOne(requests: readonly string[]): Promise<SettledRequest[]> {
    const settled: SettledRequest[] = [];
    for (const id of requests) settled.push(await submit(id));
    return settled;
  }

  it.each(['storage_unavailable', 'shutting_down', 'no_worker'] as const)(
    '(%s) draws 5 of 300 requests, fails none, and is suspended with the reason',
    async code => {
      await start(2);
      workers[0]!.refusal = new DomainError(code, 'not today');
      const settled = [
        ...(await oneByOne(ids(100))),
        ...(await Promise.all(ids(200, 'b').map(submit))),
      ];
      expect(settled.filter(({ settlement }) => settlement.status !== 'completed')).toEqual([]);
      expect(workers[0]!.received.length).toBeLessThanOrEqual(REFUSALS);
      expect(view(0)).toMatchObject({
        state: 'suspended',
        breaker: 'open',
        problem: expect.stringContaining('not today'),
      });
    },
  );

  it('gets one request at a time after its pause, and all of them again once it answers', async () => {
    await start(2, { 'workers.breaker_min_ms': 30 });
    workers[0]!.refusal = new DomainError('storage_unavailable', 'not yet');
    let sent = 0;
    const sendUntil = async (holds: () => boolean) => {
      while (!holds()) expect((await submit(`r${++sent}`)).settlement.status).toBe('completed');
    };
    await sendUntil(() => workers[0]!.received.length === REFUSALS + 2);
    workers[0]!.refusal = undefined;
    await sendUntil(() => view(0).breaker === undefined);
    expect(view(0)).toMatchObject({ state: 'ready', slots: { total: 4, free: 4 } });
  });

  it('alone: its caller gets a refusal of the worker after five of them, not a lost connection', async () => {
    await start(1);
    workers[0]!.refusal = new DomainError('storage_unavailable', 'not today');
    const { settlement, attempts } = await submit('r');
    expect(settlement).toMatchObject({
      status: 'failed',
      error: {
        code: 'worker_lost',
        message:
          'A worker of m refused the request as unavailable, and it was not tried again after 5 attempts.',
      },
    });
    expect([attempts, workers[0]!.received.length]).toEqual([5, 5]);
  });

  it('two of three: each request ends at the third', async () => {
    await start(3, { 'workers.breaker_failures': 1000 });
    for (const worker of workers.slice(0, 2))
      worker.refusal = new DomainError('storage_unavailable', 'not today');
    const settled = await oneByOne(ids(20));
    expect(settled.map(({ settlement }) => settlement.status)).toEqual(Array(20).fill('completed'));
    expect(Math.max(...settled.map(({ attempts }) => attempts))).toBeLessThanOrEqual(3);
  });

  it('bad input never opens its breaker: what a worker says about a request is an answer', async () => {
    await start(1);
    workers[0]!.refusal = new DomainError('invalid_audio', 'no audio');
    const settled = await oneByOne(ids(20));
    expect(settled.map(({ settlement }) => settlement)).toMatchObject(
      Array(20).fill({ error: { code: 'invalid_audio' } }),
    );
    expect(view(0).breaker).toBeUndefined();
  });
});

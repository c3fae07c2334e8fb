import { afterEach, describe, expect, it } from '@jest/globals';
import { type INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { RequestPriority } from '../../../src/core/request/request-priority.js';
import { LifecycleModule } from '../../../src/gateway/lifecycle/lifecycle.module.js';
import { type SettledRequest } from '../../../src/gateway/registry/submitted-request.js';
import { RequestIntake } from '../../../src/gateway/scheduler/request-intake.js';
import { SchedulerModule } from '../../../src/gateway/scheduler/scheduler.module.js';
import { SchedulerService } from '../../../src/gateway/scheduler/scheduler.service.js';
import { WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { WORKER_LAUNCH } from '../../../src/gateway/worker-pool/worker-roster.js';
import { ClockModule } from '../../../src/platform/clock/clock.module.js';
import { ConfigModule } from '../../../src/platform/config/config.module.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { EventsModule } from '../../../src/platform/events/events.module.js';
import { HostedWorkers } from '../../support/hosted-worker.js';
import { isReady, transcribeTask, workerThat } from '../../support/pool-harness.js';
import { aRef } from '../../support/requests.js';
import { executionOf, ids } from '../../support/scheduler-harness.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { pause, until } from '../../support/waiting.js';
import { builtLaunch } from '../api/gateway-rig.js';

/**
 * The scheduler, its pool, and a worker that runs the synthetic engine, hosted where it
 * does not die: nothing is scripted by the test.
 */
describe('scheduler and a real engine', () => {
  let app: INestApplicationContext;
  let scheduler: SchedulerService;
  let pool: WorkerPoolService;
  const settledOrder: string[] = [];

  let hosted: HostedWorkers | undefined;

  async function start({ dies = false } = {}): Promise<void> {
    const faults = [
      { marker: 'endless', action: 'slow', ms: 60_000 },
      { marker: 'crashes', action: 'crash' },
      { marker: 'slow', action: 'slow', ms: 300 },
    ];
    const model = syntheticModel({ maxBatch: 4, steps: 100, faults });
    const settings = settingsFrom({
      'workers.restart_min_ms': 10,
      'server.shutdown_grace_ms': 200,
    });
    hosted = dies ? undefined : await HostedWorkers.start([model], settings);
    const testing = await Test.createTestingModule({
      imports: [
        ConfigModule.forRoot(settings, hosted?.models ?? [model]),
        ClockModule,
        EventsModule,
        SchedulerModule,
        LifecycleModule,
      ],
    })
      .overrideProvider(WORKER_LAUNCH)
      .useValue(builtLaunch)
      .compile();
    testing.useLogger(false);
    app = await testing.init();
    scheduler = app.get(SchedulerService);
    pool = app.get(WorkerPoolService, { strict: false });
    settledOrder.length = 0;
    await workerThat(pool, isReady);
  }

  afterEach(async () => {
    await app.close();
    await hosted?.[Symbol.asyncDispose]();
  });

  const submit = async (
    id: string,
    audio = id,
    priority: RequestPriority = RequestPriority.BATCH,
  ) => {
    const payload = transcribeTask('', () => Promise.resolve(Buffer.from(audio)));
    const spec = {
      id,
      model: 'synthetic',
      priority,
      bytes: audio.length,
      audioDurationS: 1,
      payload,
    };
    const settled = await app.get(RequestIntake).submit(spec).settled;
    settledOrder.push(id);
    return settled;
  };

  const textOf = ({ settlement }: SettledRequest): string =>
    settlement.status === 'completed' && settlement.reply.kind === 'transcript'
      ? settlement.reply.transcript.text
      : settlement.status;

  const slotsInUse = () => pool.workers().reduce((sum, { slots }) => sum + slots.inUse, 0);
  const untilSlots = (holds: (inUse: number) => boolean) =>
    until(() => pause(5).then(() => holds(slotsInUse())));

  it('computes four requests in one engine call, and each gets the answer to its own audio', async () => {
    await start();
    const audio = ids(4).map((id, index) => id.repeat(index + 1));
    const settled = await Promise.all(ids(4).map((id, index) => submit(id, audio[index])));
    settled.forEach((one, index) =>
      expect(textOf(one)).toContain(` ${audio[index]!.length} bytes`),
    );
    const executions = settled.map(({ settlement }) => executionOf(settlement));
    expect(executions.map(execution => execution?.batchSize)).toEqual([4, 4, 4, 4]);
    expect(new Set(executions.map(execution => execution?.batchId)).size).toBe(1);
  });

  it('answers REALTIME before BATCH that came earlier and waits for the device', async () => {
    await start();
    const batch = ids(12).map(id => submit(id, `${id} slow`));
    expect(await untilSlots(inUse => inUse >= 8)).toBe(true);
    await submit('live', 'live', RequestPriority.REALTIME);
    expect(settledOrder.indexOf('live')).toBeLessThan(8);
    expect((await Promise.all(batch)).map(({ settlement }) => settlement.status)).toEqual(
      Array(12).fill('completed'),
    );
  });

  it('cancels a call of a minute: its slot is free when the engine stops; the next request is answered', async () => {
    await start();
    const hanging = submit('r1', 'endless');
    expect(await untilSlots(inUse => inUse === 1)).toBe(true);
    expect(await scheduler.cancel(aRef('r1'), 'client')).toBe(true);
    expect((await hanging).settlement.status).toBe('cancelled');
    expect(await untilSlots(inUse => inUse === 0)).toBe(true);
    expect(textOf(await submit('r2'))).toContain(' 2 bytes');
  });

  it('tries a request that kills its worker twice, and answers what comes after the restart', async () => {
    await start({ dies: true });
    const { settlement, attempts } = await submit('r1', 'crashes');
    expect(settlement).toMatchObject({
      status: 'failed',
      error: { code: 'worker_crashed' },
    });
    expect(attempts).toBe(2);
    expect(textOf(await submit('r2'))).toContain(' 2 bytes');
    expect(pool.workers()[0]!.restarts).toBeGreaterThanOrEqual(2);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { register } from 'prom-client';
import { WorkerPoolModule } from '../../../src/gateway/worker-pool/worker-pool.module.js';
import { WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { WORKER_LAUNCH } from '../../../src/gateway/worker-pool/worker-roster.js';
import { ClockModule } from '../../../src/platform/clock/clock.module.js';
import { ConfigModule } from '../../../src/platform/config/config.module.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import {
  alone,
  fixtureLaunch,
  isReady,
  modelSpec,
  transcribe,
  workerThat,
} from '../../support/pool-harness.js';

const settings = settingsFrom({
  'workers.health_interval_ms': 30,
  'workers.restart_min_ms': 10,
});

describe('metrics of the worker pool', () => {
  let module: TestingModule;
  let pool: WorkerPoolService;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    module = await Test.createTestingModule({
      imports: [
        ConfigModule.forRoot(settings, [modelSpec({ replicas: 1 })]),
        ClockModule,
        WorkerPoolModule,
      ],
    })
      .overrideProvider(WORKER_LAUNCH)
      .useValue(fixtureLaunch)
      .compile();
    await module.init();
    pool = module.get(WorkerPoolService);
  });

  afterEach(async () => {
    await pool.close();
    await module.close();
  });

  async function value(
    name: string,
    labels: Record<string, string> = { worker: 'm-0', model: 'm' },
  ) {
    const metric = (await register.getMetricsAsJSON()).find(
      found => found.name === name.replace(/_count$/, ''),
    );
    const values = (metric?.values ?? []) as {
      metricName?: string;
      value: number;
      labels: Record<string, string>;
    }[];
    return values.find(
      entry =>
        (entry.metricName ?? name) === name &&
        Object.entries(labels).every(([label, wanted]) => entry.labels[label] === wanted),
    )?.value;
  }

  it('workers are started by the application itself', async () => {
    expect((await workerThat(pool, isReady)).id).toBe('m-0');
  });

  it('up, slots and slots in use are read from the pool at every scrape', async () => {
    await workerThat(pool, isReady);
    const [lease] = pool.lease('m-0', 3);
    expect(await value('switchyard_worker_up')).toBe(1);
    expect(await value('switchyard_worker_slots')).toBe(8);
    expect(await value('switchyard_worker_slots_in_use')).toBe(3);
    lease?.release();
    expect(await value('switchyard_worker_slots_in_use')).toBe(2);
    await pool.close();
    expect(await value('switchyard_worker_up')).toBe(0);
    expect(await value('switchyard_worker_slots')).toBe(0);
  });

  it('restarts count from 0; work is counted once per answer', async () => {
    const { pid, id: workerId } = await workerThat(pool, isReady);
    expect(await value('switchyard_worker_restarts_total')).toBe(0);
    await pool.execute({ workerId, request: transcribe(), group: alone }).reply;
    await pool
      .execute({ workerId, request: transcribe('fail:engine_failed'), group: alone })
      .reply.catch(() => undefined);
    const phases = ['switchyard_worker_prep_seconds', 'switchyard_worker_ready_wait_seconds'];
    for (const name of [...phases, 'switchyard_worker_device_seconds']) {
      expect(await value(`${name}_count`, { model: 'm' })).toBe(1);
    }
    process.kill(pid!, 'SIGKILL');
    await workerThat(pool, worker => worker.restarts === 1);
    expect(await value('switchyard_worker_restarts_total')).toBe(1);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { register } from 'prom-client';
import { Subject } from 'rxjs';
import { metricValues } from '../../../test/support/metric-values.js';
import { type PoolActivity } from './pool-activity.js';
import { workerPoolMetricProviders } from './worker-pool.metrics.js';
import { WorkerPoolService } from './worker-pool.service.js';

describe('metrics of what workers report', () => {
  let app: TestingModule;
  let activity$: Subject<PoolActivity>;
  let executed$: Subject<unknown>;
  const generation = {
    running: 3,
    waiting: 5,
    blocks: 128,
    freeBlocks: 40,
    stepTokens: 512,
  };

  beforeEach(async () => {
    activity$ = new Subject();
    executed$ = new Subject();
    const slots = { total: 8, inUse: 2 };
    const worker = (id: string, state: string, health?: object) => ({
      id,
      model: 'm',
      state,
      slots,
      health,
    });
    const views = [worker('w-0', 'ready', { generation }), worker('w-1', 'starting')];
    const model = { id: 'm', state: 'loaded', startsOnRequest: true, workers: views };
    const away = (id: string, state: string, startsOnRequest: boolean) => ({
      id,
      state,
      startsOnRequest,
      workers: [worker(`${id}-0`, 'stopped')],
    });
    const models = () => [
      model,
      away('on-request', 'unloaded', true),
      away('leaving', 'unloading', true),
      away('held', 'unloaded', false),
      away('broken', 'failed', true),
    ];
    const workers = () => models().flatMap(one => one.workers);
    app = await Test.createTestingModule({
      providers: [
        ...workerPoolMetricProviders,
        { provide: WorkerPoolService, useValue: { models, workers, activity$, executed$ } },
      ],
    }).compile();
    await app.init();
  });
  afterEach(async () => {
    await app.close();
    register.clear();
  });

  it('say of each worker whether it takes work, unless its model is unloaded until the next request', async () => {
    expect(await metricValues('switchyard_worker_up')).toEqual({
      'w-0 m': 1,
      'w-1 m': 0,
      'held-0 held': 0,
      'broken-0 broken': 0,
    });
  });

  it('show the last report of workers that batch by steps, and nothing of others', async () => {
    expect(await metricValues('llm_sequences_running')).toEqual({ 'w-0 m': 3 });
    expect(await metricValues('llm_sequences_waiting')).toEqual({ 'w-0 m': 5 });
    expect(await metricValues('llm_kv_blocks')).toEqual({ 'w-0 m': 128 });
    expect(await metricValues('llm_kv_blocks_free')).toEqual({ 'w-0 m': 40 });
    expect(await metricValues('llm_step_tokens')).toEqual({ 'w-0 m': 512 });
  });

  it('add up what steps did', async () => {
    const counts = {
      steps: 10,
      decodeCalls: 12,
      preemptions: 2,
      prefixHitTokens: 64,
      strandedTokens: 3,
      losses: 1,
    };
    for (let report = 0; report < 2; report += 1) {
      activity$.next({ type: 'generated', worker: 'w-0', model: 'm', counts });
    }
    expect(await metricValues('llm_steps_total')).toEqual({ 'w-0 m': 20 });
    expect(await metricValues('llm_decode_calls_total')).toEqual({ 'w-0 m': 24 });
    expect(await metricValues('llm_preemptions_total')).toEqual({ 'w-0 m': 4 });
    expect(await metricValues('llm_prefix_tokens_total')).toEqual({
      'w-0 m hit': 128,
      'w-0 m stranded': 6,
    });
    expect(await metricValues('llm_backend_losses_total')).toEqual({ 'w-0 m': 2 });
  });

  it('time each answer in seconds, by phase', async () => {
    const execution = {
      prepMs: 250,
      readyWaitMs: 1500,
      deviceMs: 4000,
      batchSize: 2,
      batchId: 'b',
    };
    executed$.next({ model: 'm', execution });
    expect(await metricValues('switchyard_worker_prep_seconds')).toEqual({
      'm sum': 0.25,
      'm count': 1,
    });
    expect(await metricValues('switchyard_worker_ready_wait_seconds')).toEqual({
      'm sum': 1.5,
      'm count': 1,
    });
    expect(await metricValues('switchyard_worker_device_seconds')).toEqual({
      'm sum': 4,
      'm count': 1,
    });
  });

  it('count restarts from 0 for every worker', async () => {
    activity$.next({ type: 'restarted', worker: 'w-1', model: 'm' });
    expect(await metricValues('switchyard_worker_restarts_total')).toMatchObject({
      'w-0 m': 0,
      'w-1 m': 1,
    });
  });
});

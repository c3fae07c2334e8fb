import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { type WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { type SettingPath } from '../../../src/platform/config/settings.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import {
  alone,
  isReady,
  makePool,
  modelSpec,
  transcribe,
  workerThat,
} from '../../support/pool-harness.js';

describe('what a worker says about itself', () => {
  let worker: FixtureWorker;
  let pool: WorkerPoolService;

  beforeEach(() => {
    worker = new FixtureWorker();
  });
  afterEach(async () => {
    await pool.close();
    worker.stop();
  });

  async function start(settings: Partial<Record<SettingPath, number>> = {}): Promise<void> {
    const address = `127.0.0.1:${await worker.start()}`;
    pool = makePool({ models: [modelSpec({ addresses: [address] })], settings });
    await pool.start();
  }

  it.each<[string, Partial<WorkerHealthReport>, string]>([
    ['another model', { model: 'other' }, 'model "other"'],
    ['another kind', { kind: 'tts' }, 'kind "tts"'],
    ['max_batch 0', { maxBatch: 0 }, 'max_batch 0'],
    ['max_message_bytes 1000', { maxMessageBytes: 1000 }, 'max_message_bytes 1000'],
  ])(
    'is not believed: %s keeps it out with a problem, until it is repaired',
    async (_, lie, problem) => {
      const truth = worker.health;
      worker.health = { ...truth, ...lie };
      await start();
      const refused = await workerThat(pool, view => view.problem !== undefined);
      expect(refused).toMatchObject({
        state: 'starting',
        slots: { total: 0 },
        problem: expect.stringContaining(problem),
      });
      expect(pool.offer('m')).toBeUndefined();
      expect(pool.of('m')?.view()).toMatchObject({
        state: 'failed',
        reason: expect.stringContaining(problem),
      });
      worker.health = truth;
      expect((await workerThat(pool, isReady)).problem).toBeUndefined();
    },
  );

  it('is not believed either when it was ready before', async () => {
    await start();
    await workerThat(pool, isReady);
    worker.health = { ...worker.health, model: 'other' };
    await workerThat(pool, view => view.problem?.includes('"other"') === true);
    expect(pool.offer('m')).toBeUndefined();
  });

  it('is not enough: without grpc.health.v1 its problem names the service that is missing', async () => {
    worker.standardHealth = false;
    await start();
    const { problem } = await workerThat(pool, view => view.problem !== undefined);
    expect(problem).toMatch(
      /^grpc\.health\.v1\.Health\/Check of service "" failed: 12 UNIMPLEMENTED.*must serve it$/,
    );
  });

  it('nothing at all: unresponsive after one probe, lost after all, and what it has ends then', async () => {
    await start({ 'workers.health_timeout_ms': 100, 'workers.health_failures': 3 });
    const { id } = await workerThat(pool, isReady);
    const call = pool.execute({
      workerId: id,
      request: transcribe(script.hold),
      group: alone,
    });
    await worker.arrivals(1);
    worker.mute = true;
    const quiet = await workerThat(pool, ({ state }) => state === 'unresponsive');
    expect(quiet.problem).toBe('switchyard.v1.SpeechToText/Health was not answered within 100 ms');
    expect(pool.offer('m')).toBeUndefined();
    await expect(call.reply).rejects.toMatchObject({
      ...{
        code: 'worker_lost',
        kind: 'abandoned',
        message: '3 health probes failed in a row',
      },
    });
    await call.finished;
    expect(pool.workers()[0]).toMatchObject({ state: 'lost', problem: quiet.problem });
    worker.mute = false;
    await workerThat(pool, isReady);
  });
});

import { describe, expect, it } from '@jest/globals';
import { makePool, modelSpec } from '../../../test/support/pool-harness.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { until } from '../../../test/support/waiting.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { readWorkerSpec, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { builtWorkerLaunch } from './worker-roster.js';

const spec: WorkerSpec = {
  workerId: 'm-0',
  model: syntheticModel({}, { id: 'm' }),
  host: '127.0.0.1',
  port: 0,
  maxMessageBytes: 1,
  uploadLimitBytes: 1,
  prepParallel: 4,
  shutdownGraceMs: 0,
  logLevel: 'info',
  keepaliveTimeMs: 1,
  keepaliveTimeoutMs: 1,
};

describe('the built worker', () => {
  it('is told how to fetch audio by URL', () => {
    const settings = settingsFrom({
      'fetch.timeout_ms': 7,
      'fetch.allow_hosts': 'a.lan',
      'server.upload_limit_bytes': 9,
    });
    const told = readWorkerSpec(builtWorkerLaunch(settings).environment(spec));
    expect(told).toEqual({
      ...spec,
      fetch: { timeoutMs: 7, maxBytes: 9, allowHosts: 'a.lan' },
    });
  });
});

describe('a worker behind an address', () => {
  const ADDRESS = '127.0.0.1:9';

  /** What is started on this machine for it. */
  async function startedFor(options: Record<string, unknown>): Promise<readonly WorkerSpec[]> {
    const started: WorkerSpec[] = [];
    const environment = (own: WorkerSpec) => (started.push(own), {});
    const pool = makePool({
      models: [modelSpec({ engine: 'external', addresses: [ADDRESS], options })],
      launch: {
        command: process.execPath,
        args: ['-e', 'setInterval(() => {}, 1e6)'],
        environment,
      },
    });
    void pool.start();
    await until(() => pool.workers().length > 0);
    await until(() => started.length > 0, { limitMs: 1000 }).catch(() => undefined);
    return started;
  }

  it('is called directly', async () => {
    expect(await startedFor({})).toEqual([]);
  });

  it('is called by a bridge on this machine where its audio is cut up first', async () => {
    const [bridge] = await startedFor({ segmentationModel: '/segments.onnx' });
    expect(bridge).toMatchObject({ bridged: { address: ADDRESS }, host: '127.0.0.1' });
  });
});

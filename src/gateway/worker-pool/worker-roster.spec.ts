import { describe, expect, it } from '@jest/globals';
import { settingsFrom } from '../../platform/config/settings.js';
import { readWorkerSpec, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { builtWorkerLaunch } from './worker-roster.js';

const spec: WorkerSpec = {
  workerId: 'm-0',
  model: {
    ...{
      id: 'm',
      kind: 'stt',
      engine: 'synthetic',
      aliases: [],
      capabilities: ['transcribe'],
      languages: [],
    },
    ...{ replicas: 1, addresses: [], voices: {}, options: {} },
  },
  ...{
    host: '127.0.0.1',
    port: 0,
    maxMessageBytes: 1,
    uploadLimitBytes: 1,
    prepParallel: 4,
    shutdownGraceMs: 0,
    logLevel: 'info',
  },
  ...{ keepaliveTimeMs: 1, keepaliveTimeoutMs: 1 },
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

import { describe, expect, it } from '@jest/globals';
import { maxMessageBytes } from '@switchyard/worker-protocol/message-size.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { settingsFrom } from './settings.js';
import {
  fetchRules,
  readWorkerSpec,
  isBridged,
  pulledWork,
  sharedQueueAccess,
  workerEnvironment,
  workerSpec,
  type WorkerSpec,
} from './worker-spec.js';

const spec: WorkerSpec = {
  workerId: 'm-0',
  model: syntheticModel({}, { id: 'm' }),
  host: '127.0.0.1',
  port: 0,
  maxMessageBytes: maxMessageBytes(1000),
  uploadLimitBytes: 1000,
  prepParallel: 4,
  keepaliveTimeMs: 10_000,
  keepaliveTimeoutMs: 5000,
  shutdownGraceMs: 10_000,
  logLevel: 'info',
};

describe('worker spec', () => {
  it('reaches the worker as it was, beside the rest of the environment', () => {
    const environment = workerEnvironment(spec, { PATH: '/bin' });
    expect(environment.PATH).toBe('/bin');
    expect(readWorkerSpec(environment)).toEqual(spec);
  });

  it('may say how audio by URL is fetched: as large as an upload', () => {
    const fetch = fetchRules(
      settingsFrom({ 'server.upload_limit_bytes': 1000, 'fetch.allow_hosts': 'files.lan' }),
    );
    expect(fetch).toEqual({ timeoutMs: 30_000, maxBytes: 1000, allowHosts: 'files.lan' });
    expect(readWorkerSpec(workerEnvironment({ ...spec, fetch }, {}))).toEqual({ ...spec, fetch });
    expect(() => readWorkerSpec(workerEnvironment({ ...spec, fetch: 1 as never }, {}))).toThrow(
      'fetch must be an object',
    );
  });

  it('names the variable when it is missing and every field that is wrong', () => {
    expect(() => readWorkerSpec({})).toThrow('SWITCHYARD_WORKER_SPEC is not set');
    const damaged = workerEnvironment(
      { ...spec, port: '1' as never, host: undefined as never },
      {},
    );
    expect(() => readWorkerSpec(damaged)).toThrow(
      'host is missing; must be text, not empty, port must be a whole number from 0 to 65535',
    );
  });
});

describe('the part of a model that its worker receives', () => {
  it('is one replica, without its siblings and their secrets', () => {
    const model = { ...spec.model, replicas: 3, addresses: ['gpu:1'], remote: { tokenFile: 't' } };
    const { model: own, ...rest } = workerSpec({ ...spec, model }, settingsFrom({}));
    expect(own).toEqual({ ...spec.model, replicas: 1, addresses: [] });
    expect(rest).toMatchObject({ workerId: 'm-0', port: 0, keepaliveTimeMs: 10_000 });
  });
});

describe('what a worker pulls', () => {
  const redis = { 'queue.driver': 'redis', 'redis.url': 'redis://r' };
  const gpu = [{ id: 'gpu', memory: 1, reserve: 0 }];

  it.each([
    [{ kind: 'stt' }, {}, {}, []],
    [{ kind: 'stt' }, redis, {}, ['sharedQueue', 'pull']],
    [{ kind: 'stt' }, redis, { role: 'file' }, ['sharedQueue', 'pull']],
    [{ kind: 'stt' }, redis, { role: 'stream' }, []],
    [{ kind: 'stt', device: gpu }, redis, { role: 'stream' }, ['sharedQueue']],
    [{ kind: 'llm' }, redis, {}, []],
    [{ kind: 'llm', device: gpu }, redis, {}, ['sharedQueue']],
    [{ kind: 'llm', device: gpu }, {}, {}, []],
  ] as const)('of %j with %j and %j is %j', (change, settings, replica, names) => {
    const work = pulledWork({ ...spec.model, ...change }, settingsFrom(settings), replica);
    expect(Object.keys(work)).toEqual(names);
  });

  it.each([
    [{ engine: 'external' }, redis, true],
    [{ engine: 'external' }, {}, false],
    [{ engine: 'external', options: { segmentationModel: 's' } }, {}, true],
    [{ engine: 'synthetic', options: { segmentationModel: 's' } }, redis, false],
  ] as const)('is bridged for %j with %j: %p', (change, settings, bridged) => {
    expect(isBridged({ ...spec.model, ...change }, settingsFrom(settings))).toBe(bridged);
  });

  it('from a bucket it reads with the keys of its environment, which no other worker gets', () => {
    const base = { PATH: '/bin', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'r' };
    const awsNames = (settings: Readonly<Record<string, string>>, pulls = true) => {
      const { pull, ...work } = pulledWork(spec.model, settingsFrom({ ...redis, ...settings }));
      const environment = workerEnvironment({ ...spec, ...work, ...(pulls && { pull }) }, base);
      return Object.keys(environment).filter(name => name.startsWith('AWS_'));
    };
    const s3 = { 'blobs.driver': 's3' };
    expect(awsNames(s3)).toEqual(['AWS_SECRET_ACCESS_KEY', 'AWS_REGION']);
    expect(awsNames(s3, false)).toEqual([]);
    expect(awsNames({})).toEqual([]);
  });
});

describe('sharedQueueAccess', () => {
  it('is absent while the queue is embedded, also with a Redis', () => {
    expect(sharedQueueAccess(settingsFrom({ 'redis.url': 'redis://r' }))).toBeUndefined();
  });

  it('carries what gateways and workers must agree on', () => {
    const settings = settingsFrom({
      'queue.driver': 'redis',
      'redis.url': 'redis://r',
      'redis.prefix': 'p',
      'redis.lock_ms': 400,
      'redis.result_ttl_ms': 5000,
      'queue.aging_ms': 6000,
      'data.dir': '/shared',
    });
    expect(sharedQueueAccess(settings)).toEqual({
      server: { host: 'r', port: 6379 },
      prefix: 'p',
      lockMs: 400,
      resultTtlMs: 5000,
      agingMs: 6000,
      agingShare: 0.25,
      blobs: settings.blobs,
      data: { dir: '/shared' },
    });
  });

  it('refuses a Redis queue without a Redis', () => {
    expect(() => sharedQueueAccess(settingsFrom({ 'queue.driver': 'redis' }))).toThrow(
      'redis.url must name one',
    );
  });
});

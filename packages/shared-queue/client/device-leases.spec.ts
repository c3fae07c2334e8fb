import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type Redis } from 'ioredis';
import { redisClient } from '../../../test/support/redis-client.js';
import { RedisServer } from '../../../test/support/redis-server.js';
import { describeWith, REDIS } from '../../../test/support/requires.js';
import { QueueKeys } from '../keys.js';
import { DEVICE_LEASE_MS, DeviceLeases } from './device-leases.js';

const A = { id: 'a', host: 'here' };
const B = { id: 'b', host: 'there' };

describeWith(REDIS)('leases of devices', () => {
  const keys = new QueueKeys('test');
  let server: RedisServer;
  let redis: Redis;
  let a: DeviceLeases;
  let b: DeviceLeases;

  beforeEach(async () => {
    server = await RedisServer.start();
    redis = redisClient(server.url);
    [a, b] = [A, B].map(owner => new DeviceLeases({ redis, keys }, owner)) as [
      DeviceLeases,
      DeviceLeases,
    ];
  });
  afterEach(async () => {
    redis.disconnect();
    await server[Symbol.asyncDispose]();
  });

  /** As if its gateway had been silent for so long. */
  const silent = (device: string) => redis.pexpire(keys.device(device), 0);

  it('are those of one gateway at a time, until it has been silent for 5 s', async () => {
    expect(await a.hold(['gpu0'], true)).toEqual(A);
    expect(await b.hold(['gpu0'], true)).toEqual(A);
    expect(await a.hold(['gpu0'], false)).toEqual(A);
    const leftMs = await redis.pttl(keys.device('gpu0'));
    expect(leftMs).toBeGreaterThan(DEVICE_LEASE_MS - 1000);
    expect(leftMs).toBeLessThanOrEqual(5000);
    await silent('gpu0');
    expect(await b.hold(['gpu0'], true)).toEqual(B);
    expect(await a.hold(['gpu0'], true)).toEqual(B);
  });

  it('are left alone by a gateway that may not take what nobody has', async () => {
    expect(await b.hold(['gpu0'], false)).toBeUndefined();
    expect(await redis.exists(keys.device('gpu0'))).toBe(0);
  });

  it('are taken for all devices of a gateway or for none', async () => {
    expect(await a.hold(['gpu1'], true)).toEqual(A);
    expect(await b.hold(['gpu0', 'gpu1'], true)).toEqual(A);
    expect(await redis.exists(keys.device('gpu0'))).toBe(0);
    expect(await b.hold(['gpu2'], true)).toEqual(B);
    expect(await a.hold(['gpu1', 'gpu0'], true)).toEqual(A);
  });

  it('are given back by the gateway that has them, and by no other', async () => {
    await a.hold(['gpu0', 'gpu1'], true);
    await b.release(['gpu0', 'gpu1']);
    expect(await b.hold(['gpu0'], true)).toEqual(A);
    await a.release(['gpu0', 'gpu1']);
    expect(await b.hold(['gpu0', 'gpu1'], true)).toEqual(B);
  });

  it('tell why a model cannot be loaded, for as long as its requests are refused', async () => {
    await a.refuse({ model: 'x', reason: 'out of memory', leftMs: 9000 });
    const [refusal, ...more] = await b.refusals(['w', 'x']);
    expect([refusal, more]).toEqual([
      { model: 'x', reason: 'out of memory', leftMs: expect.any(Number) },
      [],
    ]);
    expect(refusal!.leftMs).toBeGreaterThan(0);
    expect(refusal!.leftMs).toBeLessThanOrEqual(9000);
    await redis.pexpire(keys.refused('x'), 0);
    expect(await b.refusals(['w', 'x'])).toEqual([]);
  });
});

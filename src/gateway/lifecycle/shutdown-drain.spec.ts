import { describe, expect, it } from '@jest/globals';
import { settingsFrom } from '../../platform/config/settings.js';
import { ShutdownGrace } from './shutdown-drain.js';

const SETTINGS = settingsFrom({
  'server.shutdown_grace_ms': 10_000,
  'cancellation.rpc_timeout_ms': 100,
});
const never = new Promise<void>(() => undefined);

describe('the grace of a shutdown', () => {
  let nowMs = 5000;
  const graceAt = (atMs: number): ShutdownGrace => {
    nowMs = atMs;
    return new ShutdownGrace({ nowMs: () => nowMs }, SETTINGS);
  };

  it('is one: its 10 s begin with the first hook, for later callers too', () => {
    const grace = graceAt(5000);
    grace.onModuleDestroy();
    nowMs += 4000;
    expect(grace.leftMs()).toBe(6000);
    nowMs += 7000;
    expect(grace.leftMs()).toBe(0);
  });

  it('waits for requests and for all other work, failed or not', async () => {
    const grace = graceAt(0);
    let finish: () => void = () => undefined;
    grace.waitFor(Promise.reject(new Error('could not say goodbye')));
    grace.waitFor(new Promise<void>(resolve => (finish = resolve)));
    const order: string[] = [];
    const waited = grace.wait(Promise.resolve()).then(() => order.push('waited'));
    await new Promise(setImmediate);
    order.push('finished');
    finish();
    await waited;
    expect(order).toEqual(['finished', 'waited']);
  });

  it('does not wait when it is over', async () => {
    const grace = graceAt(0);
    grace.onModuleDestroy();
    grace.waitFor(never);
    nowMs = 20_000;
    await grace.wait(never);
    expect(grace.leftMs()).toBe(0);
  });

  it('is over earlier by what the rejection of a long queue takes', async () => {
    const grace = graceAt(0);
    await grace.wait(never, 9900);
    expect(grace.leftMs()).toBe(10_000);
  });
});

import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { type LimitAdmission, SLOT_LEASE_MS } from '../../core/limits/limit-store.port.js';
import { ANYBODY } from '../../platform/auth/principal.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { RateLimiter } from './rate-limiter.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('renews the slots of those who are inside three times per lease, and of no others', async () => {
  const renewed: string[][] = [];
  const store = {
    admit: () => Promise.resolve({ status: {} }),
    renew: (inside: readonly LimitAdmission[]) =>
      renewed.push(inside.map(({ subject }) => subject)),
    release: () => undefined,
  };
  const parts = [
    settingsFrom({ 'limits.concurrent_requests': 2 }),
    {},
    store,
    new DispatchEventBus(),
  ];
  const limiter = new RateLimiter(
    ...([...parts, {}, {}] as unknown as ConstructorParameters<typeof RateLimiter>),
  );
  limiter.onModuleInit();
  jest.advanceTimersByTime(SLOT_LEASE_MS);
  expect(renewed).toEqual([]);
  const first = await limiter.enter(ANYBODY, 'r1');
  const last = await limiter.enter(ANYBODY, 'r2');
  first!.leave();
  jest.advanceTimersByTime(SLOT_LEASE_MS);
  expect(renewed).toEqual(Array(3).fill(['tenant:default']));
  last!.leave();
  jest.advanceTimersByTime(SLOT_LEASE_MS);
  expect(renewed).toHaveLength(3);
  limiter.onApplicationShutdown();
});

import { expect, it } from '@jest/globals';
import { ElsewhereLocation } from './elsewhere-location.js';
import { type LocationEvents } from './worker-location.js';

it('a worker of another gateway is reached anew with each process, and probed when it changes', async () => {
  const worker = { workerId: 'm-0', pid: 1, address: 'h:1', token: 'a', state: 'ready' };
  const location = new ElsewhereLocation(worker);
  const events: string[] = [];
  const recorded = (): string[] => events.splice(0);
  // Nobody listens yet.
  location.update({ ...worker, pid: 2 });
  location.start({
    onStarting: () => events.push('starting'),
    onReachable: at => events.push(at as string),
    onReady: () => events.push('ready'),
    onGone: () => false,
  } satisfies LocationEvents);
  expect(recorded()).toEqual(['starting', 'h:1', 'ready']);
  location.update({ ...worker, pid: 2, token: 'b' });
  expect([recorded(), location.token]).toEqual([[], 'b']);
  location.update({ ...worker, pid: 2, state: 'draining' });
  expect(recorded()).toEqual(['ready']);
  location.update({ ...worker, pid: 3, address: 'h:2' });
  expect(recorded()).toEqual(['starting', 'h:2', 'ready']);
  expect([location.status, location.isElsewhere]).toEqual([{ pid: 3, restarts: 0 }, true]);
  // Its own gateway ends it.
  location.onHung();
  await location.stop();
  expect(recorded()).toEqual([]);
});

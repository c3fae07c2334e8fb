import { expect, it, jest } from '@jest/globals';
import { ElsewhereLocation } from './elsewhere-location.js';

const WORKER = { workerId: 'm-0', pid: 1, address: '127.0.0.1:1', token: 't', state: 'starting' };

it('a worker of another gateway is probed when it comes, serves, or is another process', async () => {
  const told: unknown[] = [];
  const events = {
    onStarting: () => void told.push('starting'),
    onReachable: (at: unknown) => void told.push(at),
    onReady: () => void told.push('ready'),
    onGone: jest.fn<() => boolean>(),
  };
  const location = new ElsewhereLocation(WORKER);
  location.update({ ...WORKER, state: 'ready' });
  expect(told).toEqual([]);
  location.start(events);
  expect(told.splice(0)).toEqual(['starting', '127.0.0.1:1', 'ready']);
  location.update({ ...WORKER, state: 'ready' });
  expect(told).toEqual([]);
  location.update(WORKER);
  expect(told.splice(0)).toEqual(['ready']);
  location.update({ ...WORKER, pid: 2, address: '127.0.0.1:2', token: 'u' });
  expect(told.splice(0)).toEqual(['starting', '127.0.0.1:2', 'ready']);
  expect([location.status, location.token, location.isElsewhere]).toEqual([
    { pid: 2, restarts: 0 },
    'u',
    true,
  ]);
  location.onHung();
  await location.stop();
  expect([told, events.onGone.mock.calls]).toEqual([[], []]);
});

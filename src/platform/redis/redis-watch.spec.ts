import { EventEmitter } from 'node:events';
import { expect, it, jest } from '@jest/globals';
import { type Redis } from 'ioredis';
import { watchRedis } from './redis-watch.js';

it.each([
  ['ready', 1, 1],
  ['connect', 0, 1],
  ['reconnecting', 0, 0],
])(
  'a silent connection that is %s is asked %d times, then ended %d times',
  (status, asks, ends) => {
    jest.useFakeTimers();
    let [asked, ended] = [0, 0];
    const client = Object.assign(new EventEmitter(), {
      status,
      stream: { bytesRead: 0, destroy: () => ended++ },
      ping: () => Promise.resolve(void asked++),
    });
    watchRedis(client as unknown as Redis);
    jest.advanceTimersByTime(6000);
    expect(ended).toBe(0);
    jest.advanceTimersByTime(1000);
    expect([Math.min(1, asked), Math.min(1, ended)]).toEqual([asks, ends]);
    client.emit('end');
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  },
);

import { type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { watchLink } from './link-watch.js';

/** Seconds without a byte, of a connection that is asked by itself. */
const SILENT_S = 5;
let socket: { bytesRead: number; destroy(): void } | undefined;
let events: string[];
let stop: () => void;

beforeEach(() => {
  jest.useFakeTimers();
  events = [];
  socket = { bytesRead: 0, destroy: () => void events.push('destroyed') };
  stop = watchLink({
    socket: () => socket as Socket | undefined,
    ask() {
      events.push('asked');
      return undefined;
    },
    lost: () => void events.push('lost'),
    silentS: SILENT_S,
  });
});
afterEach(() => {
  stop();
  jest.useRealTimers();
});

const pass = (seconds: number): void => void jest.advanceTimersByTime(seconds * 1000);

it('asks an open connection over which nothing comes, and ends it when nothing is answered', () => {
  pass(2);
  expect(events).toEqual(['asked']);
  pass(3);
  expect(events).toEqual(['asked', 'destroyed', 'lost']);
});

it('keeps one over which something comes, or that is not open, and one of a process that paused', () => {
  for (let second = 0; second < 20; second++) {
    socket!.bytesRead += 1;
    pass(1);
  }
  expect(events).toEqual([]);
  pass(4);
  socket!.bytesRead += 1;
  // However long the pause was, it is one look.
  jest.advanceTimersByTime(1000);
  socket = undefined;
  pass(60);
  expect(events).toEqual(['asked']);
});

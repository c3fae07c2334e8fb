import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { map } from 'rxjs';
import { aKey } from '../../../test/support/requests.js';
import { type DispatchEvent } from '../../core/dispatch/dispatch-event.js';
import { DispatchEventBus } from './events.module.js';

const accepted = (requestId: string): DispatchEvent => ({
  type: 'accepted',
  key: aKey(requestId),
  requestId,
  model: 'm',
  priority: 'batch',
  atMs: 0,
  bytes: 1,
});

describe('DispatchEventBus', () => {
  const bus = () => {
    const made = new DispatchEventBus();
    made.onModuleInit();
    open.push(made);
    return made;
  };
  const open: DispatchEventBus[] = [];
  let logged: Promise<unknown[]>;

  beforeEach(() => {
    logged = new Promise(resolve => {
      jest
        .spyOn(Logger.prototype, 'error')
        .mockImplementation((...args: unknown[]) => resolve(args));
    });
  });
  afterEach(() => {
    open.splice(0).forEach(each => each.onApplicationShutdown());
    jest.restoreAllMocks();
  });

  it('has shown an event to every subscriber, in order, when emit returns', () => {
    const events = bus();
    const seen: string[] = [];
    events.events$.subscribe(({ requestId }) => seen.push(`1:${requestId}`));
    events.events$.subscribe(({ requestId }) => seen.push(`2:${requestId}`));
    events.emit(accepted('a'));
    events.emit(accepted('b'));
    expect(seen).toEqual(['1:a', '2:a', '1:b', '2:b']);
  });

  it('shows the events of one type to those who asked for that type', () => {
    const events = bus();
    const seen: string[] = [];
    events.on('accepted', ({ requestId, bytes }) => seen.push(`${requestId}:${bytes}`));
    events.on('promoted', ({ requestId }) => seen.push(requestId));
    events.emit(accepted('a'));
    expect(seen).toEqual(['a:1']);
  });

  it('isolates a subscriber that throws: the emitter and the others continue, and the log has the error', async () => {
    const events = bus();
    const seen: string[] = [];
    events.events$.subscribe(({ requestId }) => {
      if (requestId === 'a') throw new Error('bad listener');
    });
    events.events$.subscribe(({ requestId }) => seen.push(requestId));
    expect(() => events.emit(accepted('a'))).not.toThrow();
    events.emit(accepted('b'));
    expect(seen).toEqual(['a', 'b']);
    expect(await logged).toMatchObject([{ err: { message: 'bad listener' } }, expect.any(String)]);
  });

  it('isolates an operator that throws as well', async () => {
    const events = bus();
    const bad = map((): never => {
      throw new Error('bad operator');
    });
    events.events$.pipe(bad).subscribe();
    expect(() => events.emit(accepted('a'))).not.toThrow();
    expect(await logged).toMatchObject([{ err: { message: 'bad operator' } }, expect.any(String)]);
  });

  it('ends its subscriptions when the application is gone', () => {
    const events = bus();
    let ended = false;
    events.events$.subscribe({ complete: () => (ended = true) });
    events.onApplicationShutdown();
    expect(ended).toBe(true);
  });
});

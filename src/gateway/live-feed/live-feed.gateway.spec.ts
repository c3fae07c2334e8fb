import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { NEVER } from 'rxjs';
import { LiveFeedGateway, messageAllowance } from './live-feed.gateway.js';

describe('MessageAllowance', () => {
  it('lets a burst of 3 through, then 2 per second, and never saves up more than the burst', () => {
    const refusals = messageAllowance({ limit: 3, periodMs: 1500 });
    const taken = (...atMs: number[]) => atMs.map(at => refusals(at) === 0);
    expect(taken(0, 0, 0, 0)).toEqual([true, true, true, false]);
    expect(taken(499, 500, 500)).toEqual([false, true, false]);
    expect(taken(60_000, 60_000, 60_000, 60_000)).toEqual([true, true, true, false]);
  });

  it('counts refusals until one is taken', () => {
    const refusals = messageAllowance({ limit: 1, periodMs: 1000 });
    for (let i = 0; i < 4; i++) refusals(0);
    expect(refusals(0)).toBe(4);
    expect(refusals(2000)).toBe(0);
  });
});

describe('a connection to the live feed', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is ended 6 s after it was opened, unless a key was accepted', () => {
    const gateway = new LiveFeedGateway(
      ...([
        { changed$: NEVER },
        {},
        {},
        { connect: () => undefined },
      ] as unknown as ConstructorParameters<typeof LiveFeedGateway>),
    );
    let opened: (socket: object) => void = () => undefined;
    const engine = { on: (_: string, listener: typeof opened) => void (opened = listener) };
    const use = () => undefined;
    Object.assign(gateway, { namespace: { server: { use, engine }, use } });
    gateway.onApplicationBootstrap();
    const ended: string[] = [];
    const [admitted, silent] = ['admitted', 'silent'].map(name => ({
      transport: { socket: { terminate: () => ended.push(name) } },
    }));
    for (const socket of [admitted, silent]) opened(socket!);
    gateway.handleConnection({ conn: admitted, data: {}, on: () => undefined } as never);
    jest.advanceTimersByTime(5999);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(ended).toEqual(['silent']);
  });
});

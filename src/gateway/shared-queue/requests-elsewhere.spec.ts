import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Subject } from 'rxjs';
import { RequestsElsewhere } from './requests-elsewhere.js';

type Parts = ConstructorParameters<typeof RequestsElsewhere>;
const MODEL = 'm';

describe('requests of a model at other gateways', () => {
  let nowMs: number;
  let counts: object | undefined;
  let own: object[];
  const count = jest.fn();
  let events$: Subject<{ model: string; jobId: string }>;
  let elsewhere: RequestsElsewhere;

  beforeEach(() => {
    [nowMs, counts, own] = [1000, { realtime: 0, batch: 0, running: 0 }, []];
    events$ = new Subject();
    count.mockReset().mockImplementation(() => Promise.resolve(counts));
    elsewhere = new RequestsElsewhere(
      { nowMs: () => nowMs },
      {
        link: { look: (read: () => unknown) => read() },
        queues: { counts: count },
      } as unknown as Parts[1],
      { events$ } as unknown as Parts[2],
      {
        all: () => own,
        get: ({ jobId }: { jobId: string }) => (jobId === 'own' ? {} : undefined),
      } as unknown as Parts[3],
    );
    elsewhere.onApplicationBootstrap();
  });

  async function counted(): Promise<boolean> {
    elsewhere.areNone(MODEL);
    await new Promise(setImmediate);
    return elsewhere.areNone(MODEL);
  }

  const ours = { placed: {}, request: { model: MODEL } };
  it.each([
    [{}, [], true],
    [{ realtime: 1 }, [], false],
    [{ batch: 1 }, [], false],
    [{ running: 1 }, [], false],
    [{ realtime: 1, running: 1 }, [ours], false],
    [{ realtime: 1, running: 1 }, [ours, ours], true],
    [{}, [ours], true],
    [{ batch: 1 }, [{ ...ours, placed: undefined }], false],
    [{ batch: 1 }, [{ ...ours, request: { model: 'other' } }], false],
  ])('are none with %j in Redis and %j here: %s', async (there, here, areNone) => {
    counts = { realtime: 0, batch: 0, running: 0, ...there };
    own = here;
    expect(elsewhere.areNone(MODEL)).toBe(false);
    expect(await counted()).toBe(areNone);
  });

  it('are counted again after 250 ms, once at a time', async () => {
    await counted();
    nowMs += 250;
    elsewhere.areNone(MODEL);
    expect(count.mock.calls).toEqual([[MODEL]]);
    nowMs += 1;
    for (let nth = 0; nth < 2; nth++) elsewhere.areNone(MODEL);
    expect(count).toHaveBeenCalledTimes(2);
    await new Promise(setImmediate);
    nowMs += 251;
    elsewhere.areNone(MODEL);
    expect(count).toHaveBeenCalledTimes(3);
  });

  it('are not known for longer than 2.5 s, nor while Redis is away', async () => {
    await counted();
    nowMs += 2500;
    counts = undefined;
    expect(elsewhere.areNone(MODEL)).toBe(true);
    nowMs += 1;
    expect(await counted()).toBe(false);
  });

  it('are not known once something happens to one of them', async () => {
    await counted();
    events$.next({ model: MODEL, jobId: 'own' });
    expect(elsewhere.areNone(MODEL)).toBe(true);
    events$.next({ model: MODEL, jobId: 'other' });
    expect(elsewhere.areNone(MODEL)).toBe(false);
  });
});

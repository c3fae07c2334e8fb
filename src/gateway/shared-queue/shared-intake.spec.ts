import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { transcribe } from '../../../test/support/pool-harness.js';
import { aKey } from '../../../test/support/requests.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { Admission } from '../../core/queue/admission.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type TaskRequest } from '../../worker-client/worker-task.js';
import { type QueueReports } from '../registry/request-queue.port.js';
import { SharedIntake } from './shared-intake.js';
import { type SharedRequest } from './shared-request.js';

type Parts = ConstructorParameters<typeof SharedIntake>;
const PLACED = { blobs: ['b'] };
const BOUNDS = {
  maxRequests: 10,
  maxRequestsPerModel: 8,
  maxBytes: 1000,
  maxBytesPerModel: 800,
  realtimeReserve: 0,
};
const allOf = (waiting: ReadonlyMap<string, number>) =>
  Array.from(waiting, ([model, requests]) => ({ model, requests, tenants: 1 }));
const settled = () => new Promise(setImmediate);

describe('the way into the shared queue', () => {
  let all: SharedRequest[];
  let waiting: Map<string, number>;
  /** What a tenant has waiting in Redis; undefined: all of it. */
  let tenantLoad: object[] | undefined;
  let intake: SharedIntake;
  let isUsable: boolean;
  const [facts, place, remove, open, rejectOther, demand, failure] = Array.from({ length: 7 }, () =>
    jest.fn(),
  );
  const rejected = jest.fn<QueueReports['rejected']>();

  beforeEach(() => {
    for (const mock of [facts, place, remove, open, rejectOther, demand, failure, rejected])
      mock!.mockReset().mockReturnValue(Promise.resolve() as never);
    facts!.mockReturnValue(Promise.resolve([undefined]));
    place!.mockReturnValue(Promise.resolve(PLACED));
    failure!.mockImplementation(error => error);
    [all, waiting, tenantLoad, isUsable] = [[], new Map(), undefined, true];
    const link = {
      answered: (reply: unknown) => reply,
      failure,
      demand: () => {
        if (!isUsable) throw new DomainError('queue_unavailable', 'away');
      },
    };
    const queues = {
      facts,
      waiting: () => Promise.resolve(waiting),
      loadOf: () => tenantLoad ?? allOf(waiting),
      ref: (model: string, { id }: { id: string }) => ({ model, jobId: id }),
    };
    intake = new SharedIntake(
      { link, queues, rejectOther } as unknown as Parts[0],
      { place, remove } as unknown as Parts[1],
      {
        all: () => all,
        add: (one: SharedRequest) => void all.push(one),
        open,
        forget: (one: SharedRequest) => void (all = all.filter(other => other !== one)),
      } as unknown as Parts[2],
      new Admission(BOUNDS, () => 0),
      { of: () => ({ demand }) } as unknown as Parts[4],
      { nowMs: () => 1000 },
    );
  });

  const asked = (id: string, fields: Partial<TaskRequest> = {}): TaskRequest => ({
    ...transcribe('', undefined, id),
    ...fields,
  });
  async function entered(id: string, fields?: Partial<TaskRequest>): Promise<string | undefined> {
    intake.enter(asked(id, fields), { rejected } as unknown as QueueReports);
    await settled();
    const [key, error] = rejected.mock.lastCall ?? [];
    return key === aKey(id) ? error?.code : undefined;
  }
  /** Requests of this gateway that are in the queue. */
  const placed = (...requests: Partial<TaskRequest>[]): void => {
    const rows = requests.map((fields, nth) => ({
      request: asked(`own-${nth}`, fields),
      placed: PLACED,
      isWaiting: true,
    }));
    all.push(...(rows as unknown as SharedRequest[]));
  };

  it('leads to the queue once its body is placed, and wakes its model', async () => {
    expect(await entered('r')).toBeUndefined();
    expect(open!.mock.calls).toEqual([[expect.objectContaining({ ref: all[0]?.ref }), PLACED]]);
    expect([demand!.mock.calls.length, rejectOther!.mock.calls]).toEqual([1, []]);
    expect(place!.mock.lastCall?.slice(1)).toEqual([1000, all[0]?.entering.signal]);
  });

  it('joins a job that is there although the queue is full, unless it is another one', async () => {
    waiting = new Map([['m', 99]]);
    facts!.mockReturnValue(Promise.resolve([{}]));
    expect(await entered('r')).toBeUndefined();
    rejectOther!.mockReturnValue(Promise.reject(new DomainError('duplicate_request_id', '')));
    expect(await entered('s')).toBe('duplicate_request_id');
    expect([remove!.mock.calls, open!.mock.calls.length, all.length]).toEqual([[[['b']]], 1, 1]);
  });

  it.each([
    ['the model', { m: 7 }, undefined],
    ['the model', { m: 8 }, 'queue_full'],
    ['all models', { n: 9 }, undefined],
    ['all models', { n: 10 }, 'queue_full'],
    ['all models', { m: 5, n: 5 }, 'queue_full'],
  ])('is closed at the bounds of %s: %j waiting, %s', async (_, counts, code) => {
    waiting = new Map(Object.entries(counts));
    expect(await entered('r')).toBe(code);
    expect(intake.lastWaiting).toBe(waiting);
    expect(place).toHaveBeenCalledTimes(code ? 0 : 1);
  });

  it.each([
    ['the last place of a model', { m: 7 }, 'm', 'queue_full'],
    ['the last place of another model', { m: 7 }, 'n', undefined],
    ['the last place of all', { o: 9 }, 'n', 'queue_full'],
  ])('gives %s to one of two at once', async (_, counts, model, code) => {
    waiting = new Map(Object.entries(counts));
    const reports = { rejected } as unknown as QueueReports;
    intake.enter(asked('first', { model }), reports);
    expect(await entered('second')).toBe(code);
    expect(open).toHaveBeenCalledTimes(code ? 1 : 2);
  });

  it.each([
    ['of the model', { model: 'm', bytes: 700 }, 100, undefined],
    ['of the model', { model: 'm', bytes: 700 }, 101, 'queue_full'],
    ['of all', { model: 'n', bytes: 700 }, 300, undefined],
    ['of all', { model: 'n', bytes: 700 }, 301, 'queue_full'],
  ])('counts bytes %s in this gateway: %j and %d, %s', async (_, fields, bytes, code) => {
    placed(fields);
    expect(await entered('r', { bytes })).toBe(code);
  });

  it('counts the bytes of what enters as well, and not of what runs', async () => {
    placed({ bytes: 790 });
    Object.assign(all[0]!, { isWaiting: false });
    intake.enter(asked('first', { bytes: 400 }), { rejected } as unknown as QueueReports);
    expect(await entered('second', { bytes: 401 })).toBe('queue_full');
    expect(await entered('third', { bytes: 400 })).toBeUndefined();
  });

  it.each([
    ['holds little', { requests: 1, tenants: 2 }, undefined],
    ['holds an equal part', { requests: 4, tenants: 2 }, 'queue_full'],
    ['holds less, of more tenants', { requests: 3, tenants: 3 }, 'queue_full'],
  ])('lets a tenant beyond the bound that %s: %j', async (_, load, code) => {
    waiting = new Map([['m', 8]]);
    tenantLoad = [
      { model: 'm', ...load },
      { model: 'n', requests: 9, tenants: 9 },
    ];
    expect(await entered('r', { tenant: 't' })).toBe(code);
  });

  it.each([
    ['little', [1, 3], [1, 2], undefined],
    ['little, where many tenants wait for another model', [1, 2], [1, 4], 'queue_full'],
    ['an equal part of all together', [1, 2], [4, 2], 'queue_full'],
  ])('lets a tenant beyond the bound of all that holds %s', async (_, m, n, code) => {
    waiting = new Map([
      ['m', 5],
      ['n', 5],
    ]);
    tenantLoad = [m, n].map(([requests, tenants], at) => ({ model: 'mn'[at], requests, tenants }));
    expect(await entered('r', { tenant: 't' })).toBe(code);
  });

  it.each([
    [[], undefined],
    [['t', 't', 't'], 'queue_full'],
    [['u', 'u', 'u'], undefined],
  ])('counts as those of a tenant what enters before: %j', async (tenants, code) => {
    waiting = new Map([['m', 8 - tenants.length]]);
    tenantLoad = [{ model: 'm', requests: 1, tenants: 2 }];
    const reports = { rejected } as unknown as QueueReports;
    for (const [nth, tenant] of tenants.entries())
      intake.enter(asked(`${nth}`, { tenant }), reports);
    expect(await entered('r', { tenant: 't' })).toBe(code);
  });

  it.each([
    ['t', undefined],
    ['u', 'queue_full'],
  ])('counts the bytes of the tenant %s alone', async (tenant, code) => {
    waiting = new Map([['m', 2]]);
    tenantLoad = [{ model: 'm', requests: 1, tenants: 2 }];
    placed({ tenant: 'u', bytes: 700 }, { tenant: 't', model: 'n', bytes: 100 });
    expect(await entered('r', { tenant, bytes: 150 })).toBe(code);
  });

  it.each([
    ['client', 'request_cancelled'],
    ['shutdown', 'shutting_down'],
  ] as const)('is left by a request that is stopped for %s with %s', async (reason, code) => {
    const gate = Promise.withResolvers<object>();
    place!.mockReturnValue(gate.promise);
    expect(await entered('r')).toBeUndefined();
    intake.stop(all[0]!, reason);
    gate.resolve(PLACED);
    await settled();
    expect(rejected.mock.lastCall?.[1]).toMatchObject({ code });
    expect([remove!.mock.calls, open!.mock.calls, all]).toEqual([[[['b']]], [], []]);
  });

  it('is closed when the gateway ends, for what enters and what comes', async () => {
    const gate = Promise.withResolvers<object>();
    place!.mockReturnValueOnce(gate.promise);
    expect(await entered('r')).toBeUndefined();
    intake.onModuleDestroy();
    gate.resolve(PLACED);
    await settled();
    expect(rejected.mock.lastCall?.[1]).toMatchObject({ code: 'shutting_down' });
    expect(await entered('s')).toBe('shutting_down');
  });

  it('is closed while Redis is away, and when what fails is not known', async () => {
    isUsable = false;
    expect(await entered('r')).toBe('queue_unavailable');
    isUsable = true;
    place!.mockReturnValue(Promise.reject(new Error('what')));
    expect(await entered('s')).toBe('internal_error');
    expect(all).toEqual([]);
  });

  it.each([
    [61_000, 4999, 5000],
    [1500, 499, 500],
  ])('counts Redis as hung: due at %d, after %d ms not, after %d', async (dueMs, before, after) => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    facts!.mockReturnValue(new Promise(() => undefined));
    const priority = RequestPriority.BATCH;
    expect(await entered('r', { queueDeadlineMs: dueMs, priority })).toBeUndefined();
    await jest.advanceTimersByTimeAsync(before);
    expect(failure).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(after - before);
    expect(failure!.mock.calls).toEqual([[new Error('Command timed out')]]);
    jest.useRealTimers();
  });
});

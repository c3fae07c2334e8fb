import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LEASE, opened } from '../../../test/support/records.js';
import { aKey, aRef } from '../../../test/support/requests.js';
import { type RequestView } from '../../core/dispatch/request-view.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { RequestRegistry } from '../registry/request-registry.js';
import { type TrackedRequest } from '../registry/tracked-request.js';
import { SchedulerService } from './scheduler.service.js';

const GONE = { status: 'cancelled', error: new DomainError('request_cancelled', '') } as const;
const view = (id: string, fields: Partial<RequestView> = {}): RequestView => ({
  id,
  model: 'm',
  priority: 'batch',
  state: 'queued',
  aged: false,
  createdAtMs: 0,
  waitedMs: 0,
  attempts: 0,
  phases: {},
  ...fields,
});

describe('the scheduler', () => {
  let registry: RequestRegistry;
  let nowMs: number;
  /** What the queue of this process lists, and that of all gateways. */
  let here: RequestView[];
  let shared: RequestView[];
  const embedded = { list: jest.fn(() => here), find: jest.fn(), reprioritize: jest.fn() };
  const elsewhere = {
    list: jest.fn(),
    listed: jest.fn(),
    find: jest.fn(),
    reprioritize: jest.fn(),
  };
  const forecasts = { ofView: jest.fn(), explain: jest.fn() };
  let scheduler: SchedulerService;

  beforeEach(() => {
    [nowMs, here, shared] = [0, [], []];
    for (const part of [embedded, elsewhere, forecasts])
      for (const mock of Object.values(part)) mock.mockReset();
    embedded.list.mockImplementation(() => here);
    for (const mock of [elsewhere.list, elsewhere.listed])
      mock.mockImplementation(() => Promise.resolve(shared));
    for (const mock of [elsewhere.find, elsewhere.reprioritize])
      mock.mockImplementation(() => Promise.resolve());
    registry = new RequestRegistry(
      new DispatchEventBus(),
      { nowMs: () => nowMs },
      settingsFrom({}),
    );
    const parts = [
      { accepting: true },
      registry,
      { embedded, shared: elsewhere, isIdle: () => true },
      forecasts,
      { running: true },
    ];
    scheduler = new SchedulerService(
      ...(parts as unknown as ConstructorParameters<typeof SchedulerService>),
    );
  });

  const own = (id: string, isEmbedded = true, fields: object = {}): TrackedRequest =>
    Object.assign(opened(registry, id, fields), { queue: { isEmbedded } });
  const idsOf = (views: readonly RequestView[]): string[] => views.map(({ id }) => id);

  it('lists what the queues list, and what only this gateway knows of', async () => {
    own('here');
    own('placed');
    own('unlisted');
    registry.settle(own('ended'), GONE);
    here = [view('here'), view('placed')];
    shared = [view('far', { position: 1 }), view('placed', { position: 2, aged: true })];
    const all = await scheduler.list();
    expect(idsOf(all)).toEqual(['far', 'placed', 'here', 'unlisted']);
    expect(all[1]).toMatchObject({
      position: 2,
      aged: true,
      attempts: 0,
      createdAtMs: expect.any(Number),
    });
    expect(idsOf(await scheduler.list({ state: 'queued', model: 'other' }))).toEqual([]);
    expect(idsOf(await scheduler.list({ state: 'cancelled' }))).toEqual(['ended']);
  });

  it('shows of its own text what Redis does not know, and of other requests what Redis says', async () => {
    registry.leased(own('runs'), LEASE, false);
    own('pulled', false);
    shared = [view('runs', { position: 3 }), view('pulled', { position: 4, workerId: 'far' })];
    const [runs, pulled] = await scheduler.list();
    expect(runs).toMatchObject({ state: 'running', workerId: 'w' });
    expect([runs?.position, pulled]).toEqual([undefined, shared[1]]);
  });

  it('finds a request that runs here, or ended lately', () => {
    own('runs');
    registry.settle(own('ended'), GONE);
    expect(['runs', 'ended', 'unknown'].map(id => scheduler.find(aRef(id))?.state)).toEqual([
      'queued',
      'cancelled',
      undefined,
    ]);
    scheduler.withdraw(aKey('ended'));
    expect([scheduler.accepting, scheduler.running, scheduler.isIdle('m')]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('finds a request anywhere, with its place among those of all gateways', async () => {
    own('waits');
    registry.leased(own('runs'), LEASE, false);
    expect((await scheduler.findAnywhere(aRef('runs')))?.state).toBe('running');
    expect(elsewhere.find).not.toHaveBeenCalled();
    embedded.find.mockReturnValue(view('waits', { position: 1 }));
    expect((await scheduler.findAnywhere(aRef('waits')))?.position).toBe(1);
    elsewhere.find.mockImplementation(() => Promise.resolve(view('waits', { position: 5 })));
    expect((await scheduler.findAnywhere(aRef('waits')))?.position).toBe(5);
    embedded.find.mockReturnValue(undefined);
    expect((await scheduler.findAnywhere(aRef('far')))?.position).toBe(5);
    elsewhere.find.mockImplementation(() => Promise.resolve());
    expect((await scheduler.findAnywhere(aRef('waits')))?.id).toBe('waits');
  });

  it('tells many callers their places from one pass a second', async () => {
    own('waits');
    here = [view('waits', { position: 1 })];
    forecasts.ofView.mockReturnValue('forecast');
    const waitOf = async (id = 'waits') => scheduler.waitOf(aRef(id));
    for (let nth = 0; nth < 2; nth++)
      expect(await waitOf()).toEqual({ view: here[0], forecast: 'forecast' });
    nowMs = 999;
    await waitOf();
    expect(embedded.list).toHaveBeenCalledTimes(1);
    nowMs = 1000;
    await waitOf();
    expect(embedded.list).toHaveBeenCalledTimes(2);
    own('pulled', false);
    elsewhere.find.mockImplementation(() => Promise.resolve(view('pulled', { position: 9 })));
    expect((await waitOf('pulled')).view?.position).toBe(9);
    elsewhere.find.mockImplementation(() => Promise.resolve());
    expect(await waitOf('unknown')).toEqual({ view: undefined, forecast: undefined });
  });

  it('says when a request is probably answered, and why it waits', async () => {
    here = [view('waits'), view('other', { model: 'n' })];
    own('waits');
    forecasts.ofView.mockReturnValue({ endInMs: { p50: 7 } });
    expect([await scheduler.etaMs(aRef('waits')), await scheduler.etaMs(aRef('no'))]).toEqual([
      7,
      undefined,
    ]);
    const running = view('runs', { state: 'running' });
    for (const one of [here[0]!, running]) await scheduler.explain(one);
    expect(forecasts.explain.mock.calls).toEqual([
      [here[0], [here[0]]],
      [running, []],
    ]);
  });

  it('names requests of an id, of every tenant: those that run, then those that ended', async () => {
    registry.settle(own('r', true, { tenant: 't' }), GONE);
    own('r', true, { tenant: 'u' });
    own('other');
    shared = [view('r', { tenant: 'v' }), view('r', { tenant: 't' })];
    const named = await scheduler.named('r', true);
    expect(named.map(({ tenant, state }) => [tenant, state])).toEqual([
      ['v', 'queued'],
      ['u', 'queued'],
      ['t', 'cancelled'],
    ]);
    expect(elsewhere.listed).not.toHaveBeenCalled();
    own('r', true, { tenant: 't' });
    expect((await scheduler.named('r')).map(({ state }) => state)).not.toContain('cancelled');
  });

  it('asks Redis for certain only where a request of that id is not here', async () => {
    registry.settle(own('ended'), GONE);
    own('live');
    for (const [id, isCertain] of [
      ['no', false],
      ['no', true],
      ['ended', true],
      ['live', true],
    ] as const)
      await scheduler.named(id, isCertain);
    expect([elsewhere.list.mock.calls.length, elsewhere.listed.mock.calls.length]).toEqual([3, 1]);
  });

  it('gives a request another priority in the queue where it waits', async () => {
    elsewhere.reprioritize.mockImplementation(() => Promise.resolve(true));
    embedded.reprioritize.mockReturnValueOnce(true).mockReturnValueOnce(false);
    const change = () => scheduler.reprioritize(aRef('r'), RequestPriority.REALTIME);
    expect([await change(), elsewhere.reprioritize.mock.calls.length]).toEqual([true, 0]);
    expect([await change(), elsewhere.reprioritize.mock.calls.length]).toEqual([true, 1]);
  });

  it('counts what waits here by model and tenant, and what has aged', () => {
    own('a', true, { tenant: 't' });
    own('b');
    own('c', true, { model: 'n', enqueuedAtMs: 40_000 });
    registry.leased(own('runs'), LEASE, false);
    nowMs = 40_000;
    expect([...scheduler.waiting()]).toEqual([
      [
        'm',
        {
          aged: 2,
          byTenant: new Map([
            ['t', 1],
            ['default', 1],
          ]),
        },
      ],
      ['n', { aged: 0, byTenant: new Map([['default', 1]]) }],
    ]);
  });
});

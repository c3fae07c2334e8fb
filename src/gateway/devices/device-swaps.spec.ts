import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { aRequest } from '../../../test/support/requests.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { ServiceTimes } from '../../core/latency/service-times.js';
import { PriorityQueue } from '../../core/queue/priority-queue.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type DeviceRole } from './device-share.port.js';
import { DeviceSwaps } from './device-swaps.js';

Logger.overrideLogger(false);

const { BATCH, REALTIME } = RequestPriority;
const GPU = { id: 'gpu0', memory: 10, reserve: 0, as: 'cuda:0' };
const on = (id: string, fields: Partial<ModelSpec> = {}): ModelSpec =>
  syntheticModel({}, { id, device: [GPU], memory: 6, ...fields });

/** The workers of a model as a test says they are. */
class Workers {
  isPlaced = true;
  isHeld = false;
  life = 'unloaded';
  hasReady = false;
  loadProblem: string | undefined;
  running = 0;
  usedAtMs = 0;
  pid: number | undefined;
  readonly unloaded: boolean[] = [];
  readonly loadedOn: unknown[] = [];
  readonly place = {
    loadRequestedSinceMs: Infinity,
    refusal: undefined as string | undefined,
    refuse: jest.fn(),
    arrived: () => ['tenant'],
  };
  readonly roster = { all: [{ view: () => ({ pid: this.pid }) }] };

  constructor(readonly id: string) {}

  loadOn(device: unknown): void {
    this.loadedOn.push(device);
    this.life = 'loaded';
  }

  unload(hold: boolean): Promise<void> {
    this.unloaded.push(hold);
    [this.life, this.hasReady] = ['unloading', false];
    return Promise.resolve();
  }
}

describe('models that share a device', () => {
  let nowMs: number;
  let models: ModelSpec[];
  let workers: Map<string, Workers>;
  let queue: PriorityQueue;
  let times: ServiceTimes;
  let capacity$: Subject<string>;
  let activity$: Subject<void>;
  let changes$: Subject<void>;
  let steps: object[];
  let role: DeviceRole;
  const [refuse, chargeLoad, demandOf, chargeQueue] = [jest.fn(), jest.fn(), jest.fn(), jest.fn()];
  let swaps: DeviceSwaps;

  beforeEach(() => {
    nowMs = 1000;
    for (const mock of [refuse, chargeLoad, demandOf, chargeQueue]) mock.mockReset();
    role = 'load';
    make(on('a'), on('b'));
  });

  function make(...placed: ModelSpec[]): void {
    models = placed;
    workers = new Map(models.map(({ id }) => [id, new Workers(id)]));
    queue = new PriorityQueue({ agingMs: 30_000, agingShare: 0.25 });
    jest.spyOn(queue, 'chargeLoad').mockImplementation((...args) => void chargeQueue(...args));
    times = new ServiceTimes();
    [capacity$, activity$, changes$, steps] = [new Subject(), new Subject(), new Subject(), []];
    const list = {
      changes$,
      find: (id: string) => models.find(model => model.id === id),
      get current() {
        return models;
      },
    };
    const pool = { capacity$, activity$, of: (id: string) => workers.get(id) };
    const settings = settingsFrom({ 'data.dir': temporaryFolder() });
    const parts = [queue, pool, times, list, { nowMs: () => nowMs }, settings];
    swaps = new DeviceSwaps(...(parts as unknown as ConstructorParameters<typeof DeviceSwaps>));
    swaps.steps$.subscribe(step => steps.push(step));
  }
  const share = (): void =>
    void (swaps.share = {
      owner: 'gw_2',
      refuse,
      chargeLoad,
      demandOf: demandOf as () => undefined,
      get role() {
        return role;
      },
    });
  const of = (id: string): Workers => workers.get(id)!;
  const waits = (id: string, model: string): void =>
    queue.enqueue(aRequest(id, { model, enqueuedAtMs: nowMs }));
  async function turn(): Promise<void> {
    swaps.look();
    await new Promise(setImmediate);
  }
  /** It is loaded since now. */
  async function loaded(id: string, tookMs = 500): Promise<void> {
    waits(`for-${id}`, id);
    await turn();
    nowMs += tookMs;
    of(id).hasReady = true;
    await turn();
  }

  it('are loaded where one is waited for, and nothing is where none is', async () => {
    await turn();
    expect([steps, swaps.isAway('a')]).toEqual([[], true]);
    waits('r', 'a');
    capacity$.next('a');
    capacity$.next('a');
    await new Promise(setImmediate);
    expect([of('a').loadedOn, of('b').loadedOn]).toEqual([[GPU], []]);
    expect(steps).toMatchObject([{ type: 'load', model: 'a', device: 'gpu0' }]);
    expect(swaps.isAway('a')).toBe(true);
  });

  it('pay for a load when it is over, and are expected to take as long again', async () => {
    share();
    waits('r', 'a');
    expect(swaps.expected('a', BATCH)?.inMs).toBe(10_000);
    await loaded('a');
    expect(steps.at(-1)).toEqual({ type: 'loaded', model: 'a', tookMs: 500 });
    expect([times.of('a').loads.value, swaps.isAway('a')]).toEqual([500, false]);
    expect([chargeQueue.mock.calls, chargeLoad.mock.calls]).toEqual([
      [['a', 500, ['tenant']]],
      [['a', 500]],
    ]);
    await turn();
    expect(steps).toHaveLength(2);
  });

  it('make room for one that is waited for, when what they have is answered', async () => {
    await loaded('a');
    queue.takeChosen(aRequest('for-a').key);
    waits('r', 'b');
    nowMs += 600_000;
    of('a').usedAtMs = 500;
    await turn();
    expect([of('a').unloaded, of('b').loadedOn]).toEqual([[false], []]);
    expect(steps.at(-1)).toMatchObject({ type: 'leave', model: 'a' });
    of('a').life = 'unloaded';
    await turn();
    expect(of('b').loadedOn).toEqual([GPU]);
  });

  it('of which an operator unloaded one keep it unloaded', async () => {
    of('a').isHeld = true;
    waits('r', 'a');
    await turn();
    expect(of('a').loadedOn).toEqual([]);
  });

  it('are asked for by sessions', async () => {
    of('a').place.loadRequestedSinceMs = nowMs;
    await turn();
    expect(of('a').loadedOn).toEqual([GPU]);
  });

  it('are loaded for what waits at other gateways', async () => {
    share();
    const waiting = { waiting: 1, running: 0, oldestMs: 1, oldestRealtimeMs: 1, dueMs: 1 };
    demandOf.mockImplementation(id => (id === 'b' ? waiting : undefined));
    await turn();
    expect([of('a').loadedOn, of('b').loadedOn]).toEqual([[], [GPU]]);
  });

  it('are refused, here and at other gateways, where a load failed', async () => {
    share();
    waits('r', 'a');
    await turn();
    of('a').loadProblem = 'no such file';
    await turn();
    const ms = settingsFrom({}).workers.restartMaxMs;
    expect([of('a').place.refuse.mock.calls, refuse.mock.calls, of('a').unloaded]).toEqual([
      [['no such file', nowMs + ms]],
      [['a', 'no such file', ms]],
      [false],
    ]);
    of('a').life = 'unloaded';
    await turn();
    expect(of('a').loadedOn).toHaveLength(1);
  });

  it('that are ready do not fail for a process that ended', async () => {
    await loaded('a');
    of('a').loadProblem = 'it ended';
    await turn();
    expect([of('a').unloaded, of('a').place.refuse.mock.calls]).toEqual([[], []]);
  });

  it.each([
    ['keep', [], false],
    ['leave', [true], true],
  ] as const)(
    'while this gateway may %s them are changed as that says',
    async (may, unloaded, is) => {
      await loaded('a');
      share();
      role = may;
      of('a').isHeld = true;
      waits('r', 'b');
      await turn();
      expect([of('a').unloaded, of('b').loadedOn]).toEqual([unloaded, []]);
      expect([swaps.loadedBy, swaps.isAway('b'), swaps.expected('b', REALTIME)]).toEqual(
        is ? ['gw_2', false, undefined] : [undefined, true, expect.anything()],
      );
    },
  );

  it('that are unloaded or removed by others are not there any more', async () => {
    await loaded('a');
    of('a').life = 'unloading';
    await turn();
    expect(swaps.placements.at('a')?.stage).toBe('leaving');
    of('a').life = 'unloaded';
    queue.takeChosen(aRequest('for-a').key);
    await turn();
    expect(swaps.placements.at('a')).toBeUndefined();
    await loaded('b');
    workers.delete('b');
    queue.takeChosen(aRequest('for-b').key);
    await turn();
    expect(swaps.placements.at('b')).toBeUndefined();
  });

  it('without a number are measured, and refused where they turn out to be too large', async () => {
    make(on('a', { memory: undefined }));
    share();
    of('a').pid = process.pid;
    await loaded('a');
    of('a').life = 'unloaded';
    await turn();
    expect(of('a').place.refuse.mock.calls).toEqual([
      [expect.stringContaining('its measured memory of'), expect.any(Number)],
    ]);
    of('a').place.refusal = 'known';
    await turn();
    expect(of('a').place.refuse).toHaveBeenCalledTimes(1);
  });

  it('with a number are not measured', async () => {
    of('a').pid = process.pid;
    await loaded('a');
    of('a').life = 'unloaded';
    await turn();
    expect(of('a').place.refuse).not.toHaveBeenCalled();
  });

  it('are nothing to look at where there are none', async () => {
    make(syntheticModel({}, { id: 'a' }));
    workers.get('a')!.isPlaced = false;
    swaps.onApplicationBootstrap();
    const decide = jest.spyOn(swaps.placements, 'decide');
    await turn();
    expect([decide.mock.calls, swaps.placed(), swaps.isAway('a')]).toEqual([[], [], false]);
    expect(swaps.expected('a', BATCH)).toBeUndefined();
    models = [on('a')];
    changes$.next();
    await new Promise(setImmediate);
    expect(decide).toHaveBeenCalledTimes(1);
    expect(swaps.devices()).toEqual([GPU]);
  });

  it.each<[string, () => void]>([
    ['the gateway begins', () => swaps.onApplicationBootstrap()],
    ['slots change', () => capacity$.next('a')],
    ['a process ends', () => activity$.next()],
  ])('are looked at once when %s, and what is there is remembered', async (_, happens) => {
    const decide = jest.spyOn(swaps.placements, 'decide');
    const remember = jest.spyOn(swaps.history, 'look');
    for (let nth = 0; nth < 2; nth++) happens();
    await new Promise(setImmediate);
    expect([decide.mock.calls, remember.mock.calls.length]).toEqual([[[1000]], 1]);
  });

  it('are looked at again when the rules say so, by one timer', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const decide = jest.spyOn(swaps.placements, 'decide');
    const wake = jest.spyOn(swaps.placements, 'nextWakeMs').mockReturnValue(nowMs + 50);
    for (let nth = 0; nth < 2; nth++) await turn();
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(50);
    await new Promise(setImmediate);
    expect(decide).toHaveBeenCalledTimes(2);
    wake.mockReturnValue(undefined);
    jest.advanceTimersByTime(1);
    await new Promise(setImmediate);
    expect([decide.mock.calls.length, jest.getTimerCount()]).toEqual([3, 0]);
    jest.useRealTimers();
  });

  it('are expected by what their device has to do before', () => {
    const expected = jest.spyOn(swaps.placements, 'expected');
    const drainMs = (): number => 7;
    swaps.expected('a', BATCH);
    expect(expected.mock.lastCall?.[0].drainMs('a')).toBe(0);
    swaps.forecastBy(drainMs);
    swaps.expected('a', REALTIME);
    expect(expected.mock.calls).toMatchObject([
      [{ model: 'a', isRealtime: false, nowMs }],
      [{ model: 'a', isRealtime: true, nowMs, drainMs }],
    ]);
  });

  it('without a number are measured when loaded, every second, and when they leave', async () => {
    make(on('a', { memory: undefined }), on('b'));
    const measured = jest.spyOn(swaps.placements, 'measured').mockImplementation(() => undefined);
    const times = () => measured.mock.calls.length;
    await loaded('a');
    expect(times()).toBe(0);
    of('a').pid = process.pid;
    await turn();
    expect(times()).toBe(0);
    nowMs += 1000;
    await turn();
    expect(measured.mock.calls).toEqual([['a', expect.any(Number)]]);
    nowMs += 999;
    await turn();
    expect(times()).toBe(1);
    nowMs += 1;
    await turn();
    expect(times()).toBe(2);
    share();
    role = 'leave';
    await turn();
    expect([times(), of('a').unloaded]).toEqual([3, [false]]);
  });
});

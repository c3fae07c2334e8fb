import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { innerModel, InnerWorker } from '../../../test/support/inner-worker.js';
import { fixtureLaunch } from '../../../test/support/pool-harness.js';
import { until } from '../../../test/support/waiting.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { ModelWorkers } from './model-workers.js';
import { type ExecutedCall, type PoolActivity } from './pool-activity.js';
import { StartTurns } from './start-turns.js';

Logger.overrideLogger(false);

const settled = () => new Promise(setImmediate);

describe('the workers of a model', () => {
  let nowMs: number;
  /** Those that were made, by replica; each reports that it is ready unless told otherwise. */
  let inners: InnerWorker[];
  let loads: (nth: number) => Promise<readonly string[]>;
  let told: string[];
  let activity: PoolActivity[];
  let executed: ExecutedCall[];
  let model: ModelWorkers;
  const all: ModelWorkers[] = [];

  beforeEach(() => {
    [nowMs, inners, told, activity, executed] = [1000, [], [], [], []];
    loads = () => Promise.resolve([]);
    model = made();
  });
  afterEach(() => Promise.all(all.splice(0).map(one => one.close())));

  function made(fields: Partial<ModelSpec> = {}): ModelWorkers {
    const inner = () => () => {
      const worker = new InnerWorker();
      worker.loaded = loads(inners.length);
      inners.push(worker);
      return worker;
    };
    const [capacity, activity$, executed$] = [
      new Subject<string>(),
      new Subject<PoolActivity>(),
      new Subject<ExecutedCall>(),
    ];
    capacity.subscribe(id => told.push(id));
    activity$.subscribe(one => activity.push(one));
    executed$.subscribe(one => executed.push(one));
    const one = new ModelWorkers({
      settings: settingsFrom({ 'workers.restart_max_ms': 1 }),
      capacity,
      clock: { nowMs: () => nowMs },
      activity: activity$,
      executed: executed$,
      launch: { ...fixtureLaunch, inner },
      starts: new StartTurns(9, 9),
      model: innerModel(fields),
      resolve: () => Promise.resolve([]),
    });
    all.push(one);
    return one;
  }
  /** Loaded, with a worker for each replica. */
  async function loaded(fields: Partial<ModelSpec> = {}): Promise<ModelWorkers> {
    model = made(fields);
    model.load();
    await settled();
    return model;
  }
  /** Slots of one of its workers; `mostTogether`: for a suspect. */
  const leased = (id = 'm-0', slots = 1, mostTogether?: number) =>
    model.roster.get(id)!.lease(slots, 'free', mostTogether);
  /** The worker that a suspect is sent to. */
  const suspectAt = () => model.offer({ yields: true, mostTogether: 1 })?.workerId;
  const stateOf = ({ view }: ModelWorkers = model): unknown => view.call(model).state;

  it.each([
    ['always', true],
    ['on_request', false],
  ] as const)(
    'that start %s do so at boot: %s; a request starts them later',
    async (autostart, is) => {
      model = made(is ? {} : { autostart });
      model.demand();
      expect(model.life).toBe('unloaded');
      model.boot();
      expect([model.life, model.view().autostart]).toEqual([is ? 'loaded' : 'unloaded', autostart]);
      model.demand();
      await settled();
      expect([model.life, stateOf(), model.hasReady]).toEqual(['loaded', 'loaded', true]);
    },
  );

  it.each([
    [{ device: [] }, 'on_request', Infinity],
    [{ device: [], pin: true }, 'always', 1000],
  ])('that share a device are waited for: with %j %s since %d', (fields, autostart, sinceMs) => {
    model = made(fields);
    model.boot();
    model.demand();
    expect(model.isPlaced).toBe(true);
    expect([model.view().autostart, model.life]).toEqual([autostart, 'unloaded']);
    expect(model.place.loadRequestedSinceMs).toBe(sinceMs);
  });

  it('of an own machine are waited for by nobody', () => {
    model.boot();
    model.requestLoad('t');
    expect([model.isPlaced, model.place.loadRequestedSinceMs]).toEqual([false, Infinity]);
  });

  it('on a device are requested by sessions, unless they are there or an operator unloaded them', async () => {
    model = made({ device: [], command: ['true'] });
    model.boot();
    model.requestLoad('t');
    expect(model.place.loadRequestedSinceMs).toBe(1000);
    model.place.arrived();
    await model.unload(true);
    model.requestLoad('t');
    expect(model.place.loadRequestedSinceMs).toBe(Infinity);
  });

  it('that an operator unloaded are not started by requests, until they are loaded again', async () => {
    await loaded();
    await model.unload(true);
    expect([model.life, model.isHeld, model.view().startsOnRequest, told.at(-1)]).toEqual([
      'unloaded',
      true,
      false,
      'm',
    ]);
    model.boot();
    await model.unload(true);
    model.demand();
    expect(model.life).toBe('unloaded');
    model.load();
    expect([model.life, model.isHeld]).toEqual(['loaded', false]);
    await model.unload(false);
    model.demand();
    expect(model.life).toBe('loaded');
  });

  it('are unloaded when what runs has ended, and loaded after that', async () => {
    await loaded();
    const [lease] = leased();
    const [one, two] = [model.unload(false), model.unload(false)];
    model.load();
    expect(one).toBe(two);
    expect([model.life, stateOf(), model.running]).toEqual(['unloading', 'unloading', 1]);
    lease?.release();
    await one;
    await until(() => model.hasReady);
    expect([inners.length, inners[0]?.isClosed]).toEqual([2, true]);
  });

  it('offer the least loaded of them, the favourite of an affinity, and not the avoided', async () => {
    await loaded({ replicas: 3 });
    expect(model.offer()?.workerId).toBe('m-0');
    leased();
    expect(model.offer()?.workerId).toBe('m-1');
    expect(model.offer({ avoid: ['m-1'] })?.workerId).toBe('m-2');
    const favourites = ['a', 'b', 'c', 'd', 'e', 'f'].map(
      affinity => model.offer({ affinity })?.workerId,
    );
    expect(new Set(favourites)).toEqual(new Set(['m-1', 'm-2']));
    for (const id of ['m-1', 'm-2']) leased(id, 2);
    expect(model.offer({ affinity: 'a' })?.workerId).toBe('m-0');
    leased();
    expect(model.offer()).toBeUndefined();
  });

  it('compute what suspects send at one replica, as long as it is not taken out', async () => {
    await loaded({ replicas: 3 });
    leased('m-0', 1, 1);
    expect(suspectAt()).toBeUndefined();
    expect(model.offer({ mostTogether: 1 })?.workerId).toBe('m-1');
    model.roster.get('m-0')!.order('drain');
    expect(suspectAt()).toBe('m-1');
    model.roster.get('m-0')!.order('resume');
    await settled();
    expect(suspectAt()).toBe('m-1');
    await loaded();
    expect(suspectAt()).toBe('m-0');
  });

  it('that cannot start say why, in the words of the engine', async () => {
    loads = () => Promise.reject(new Error('no such file'));
    await loaded({ replicas: 2 });
    expect([stateOf(), model.view().reason]).toEqual(['failed', 'm-0: no such file']);
    expect([model.loadFailure, model.loadProblem]).toMatchObject([
      { code: 'model_load_failed', message: 'The model m cannot be loaded: no such file' },
      'no such file',
    ]);
    expect(activity).toContainEqual({ type: 'load_failed', model: 'm' });
    loads = () => Promise.resolve([]);
    await until(() => model.hasReady);
    expect([model.loadFailure, model.loadProblem]).toEqual([undefined, undefined]);
  });

  it('of which one can start do not fail the model', async () => {
    loads = nth => (nth === 0 ? Promise.reject(new Error('no')) : new Promise(() => undefined));
    await loaded({ replicas: 2 });
    expect([model.loadFailure, stateOf()]).toEqual([undefined, 'loading']);
  });

  it('without a file that their channels need are not started, until they are unloaded', async () => {
    await loaded({ addresses: ['127.0.0.1:9'], remote: { tokenFile: '/gone' } });
    expect([stateOf(), model.life, model.loadFailure?.code]).toEqual([
      'failed',
      'unloaded',
      'model_load_failed',
    ]);
    expect(activity).toEqual([{ type: 'load_failed', model: 'm' }]);
    expect(model.loadProblem).toContain('/gone');
    model.boot();
    activity.length = 0;
    model.demand();
    expect(activity).toEqual([]);
    await model.unload(false);
    expect([model.loadFailure, stateOf()]).toEqual([undefined, 'unloaded']);
  });

  it('that are refused at their device fail with the reason of that', () => {
    model.place.refuse('too large', 2000);
    expect([stateOf(), model.view().reason, model.loadFailure?.message]).toEqual([
      'failed',
      'too large',
      'The model m cannot be loaded: too large',
    ]);
    expect(activity).toEqual([{ type: 'load_failed', model: 'm' }]);
  });

  it('that are all drained have failed; those that are new load', async () => {
    loads = () => new Promise(() => undefined);
    await loaded({ replicas: 2 });
    expect(stateOf()).toBe('loading');
    const [one, two] = model.roster.all;
    model.roster.order(one!, 'drain');
    expect(stateOf()).toBe('loading');
    model.roster.order(two!, 'drain');
    expect([stateOf(), model.view().reason]).toEqual(['failed', 'all of its workers are drained']);
  });

  it('are needed when they are made and loaded, and by sessions', async () => {
    model = made({ autostart: 'on_request' });
    expect(model.usedAtMs).toBe(1000);
    nowMs = 2000;
    model.boot();
    model.requestLoad('t');
    expect([model.life, model.usedAtMs]).toEqual(['loaded', 2000]);
    await settled();
    await model.unload(false);
    nowMs = 3000;
    model.load();
    expect(model.usedAtMs).toBe(3000);
    await settled();
  });

  it('compute what suspects send at one of two', async () => {
    await loaded({ replicas: 2 });
    leased('m-0', 1, 1);
    expect(suspectAt()).toBeUndefined();
  });

  it('of which no name server has told any are loading', async () => {
    await loaded({ replicas: 0, addresses: ['workers.lan:9'] });
    expect([stateOf(), model.hasReady]).toEqual(['loading', false]);
  });

  it('are closed for good', async () => {
    await loaded();
    await model.close();
    expect([model.life, inners[0]?.isClosed]).toEqual(['unloading', true]);
    expect(model.computes(innerModel())).toBe(false);
  });

  it('are idle since they were last needed', async () => {
    await loaded({ idleUnloadS: 9 });
    nowMs = 1500;
    expect([model.view(), model.usedAtMs]).toMatchObject([{ idleMs: 500, idleUnloadS: 9 }, 1000]);
    const [lease] = leased();
    expect(model.view()).toMatchObject({ idleMs: 0, running: 1 });
    lease?.release();
    expect(model.view().idleMs).toBe(0);
    nowMs = 1600;
    model.demand();
    nowMs = 1700;
    expect(model.view().idleMs).toBe(100);
    model.reported({ deviceMs: 1 } as never);
    expect(model.view().idleMs).toBe(0);
    expect(executed).toEqual([{ model: 'm', execution: { deviceMs: 1 } }]);
  });

  it('are retired for good, and compute that model no more', async () => {
    await loaded();
    for (const same of [{}, { aliases: ['n'] }])
      expect(model.computes(innerModel(same))).toBe(true);
    expect(model.computes(innerModel({ languages: ['en'] }))).toBe(false);
    const [lease] = leased();
    const retired = model.retire();
    expect([model.life, model.computes(innerModel())]).toEqual(['unloading', false]);
    lease?.release();
    await retired;
    expect([inners[0]?.isClosed, model.roster.all[0]?.isClosing]).toEqual([true, true]);
    model.load();
    await settled();
    expect(inners).toHaveLength(1);
  });

  it('that another gateway runs are sent to while none is started here', async () => {
    const one = { workerId: 'm-0', pid: 9, address: '127.0.0.1:9', token: 't', state: 'starting' };
    model.elsewhere([one]);
    expect(model.roster.all.map(({ options }) => options.location.isElsewhere)).toEqual([true]);
    await loaded();
    model.elsewhere([{ ...one, workerId: 'm-1' }]);
    expect(model.roster.all.map(({ id }) => id)).toEqual(['m-0']);
    expect(model.roster.all[0]?.options.location.isElsewhere).toBeUndefined();
  });

  it('on a device that is left tell at once that no slot is free', async () => {
    model = made({ device: [], command: ['true'] });
    model.loadOn({ id: 'gpu0', as: 'cuda:3' } as never);
    expect([model.life, model.roster.all[0]?.options.device]).toEqual(['loaded', 'cuda:3']);
    told.length = 0;
    const unloaded = model.unload(false);
    expect(told).toEqual(['m']);
    await unloaded;
    expect(told).toEqual(['m', 'm']);
  });

  it('have shared slots for text alone', async () => {
    await loaded();
    expect(model.sharedSlots).toBeUndefined();
    model = made({ replicas: 0, addresses: ['127.0.0.1:9'] });
    expect(model.sharedSlots).toEqual([]);
    model = made({ kind: 'stt', replicas: 0, addresses: ['127.0.0.1:9'] });
    expect(model.sharedSlots).toBeUndefined();
  });
});

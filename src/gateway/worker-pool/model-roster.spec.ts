import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { innerModel, InnerWorker } from '../../../test/support/inner-worker.js';
import { fixtureLaunch } from '../../../test/support/pool-harness.js';
import { pause, until } from '../../../test/support/waiting.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { ModelRoster } from './model-roster.js';
import { StartTurns } from './start-turns.js';

Logger.overrideLogger(false);

const settled = () => new Promise(setImmediate);

describe('the roster of a model', () => {
  /** What the name server answers. */
  let found: () => Promise<readonly string[]>;
  let roster: ModelRoster;
  const all: ModelRoster[] = [];

  beforeEach(() => {
    found = () => Promise.resolve(['127.0.0.2']);
  });
  afterEach(() => Promise.all(all.splice(0).map(one => one.close())));

  function made(fields: Partial<ModelSpec> = {}): ModelRoster {
    const owner = {
      settings: settingsFrom({ 'workers.dns_refresh_ms': 1 }),
      starts: new StartTurns(9, 9),
      clock: { nowMs: () => 0 },
      activity: new Subject(),
      executed: new Subject(),
      onCapacity: () => undefined,
      onReturn: () => undefined,
      launch: { ...fixtureLaunch, inner: () => () => new InnerWorker() },
    };
    roster = new ModelRoster(
      innerModel(fields),
      owner as unknown as ConstructorParameters<typeof ModelRoster>[1],
      () => found(),
    );
    all.push(roster);
    return roster;
  }
  const ids = (): string[] => roster.all.map(({ id }) => id);
  const elsewhere = (workerId: string, pid = 1) => ({
    workerId,
    pid,
    address: '127.0.0.1:9',
    token: 't',
    state: 'starting',
  });

  it('has the workers of its replicas and of its addresses that need no name server', () => {
    made({ replicas: 2, addresses: ['127.0.0.1:9', 'workers.lan:9'] });
    expect(ids()).toEqual(['m-0', 'm-1', 'm@127.0.0.1:9']);
    expect([roster.get('m-1')?.id, roster.get('m-2')]).toEqual(['m-1', undefined]);
    expect(roster.all.map(({ state }) => state)).toEqual(['stopped', 'stopped', 'stopped']);
  });

  it('starts them, and follows the addresses of a name', async () => {
    made({ addresses: ['workers.lan:9'] });
    roster.start(undefined);
    expect(roster.get('m-0')?.state).not.toBe('stopped');
    await until(() => ids().length === 2);
    const near = roster.get('m@127.0.0.2:9');
    expect(near?.state).not.toBe('stopped');
    found = () => Promise.resolve(['127.0.0.3']);
    await until(() => roster.get('m@127.0.0.3:9') !== undefined && ids().length === 2);
    expect(near?.isClosing).toBe(true);
    found = () => Promise.reject(new Error('away'));
    await settled();
    expect(ids()).toEqual(['m-0', 'm@127.0.0.3:9']);
  });

  it('has a worker again whose address is back before it has ended', async () => {
    made({ replicas: 0, addresses: ['workers.lan:9'] });
    roster.start(undefined);
    await until(() => ids().length === 1);
    const [old] = roster.all;
    const ended = Promise.withResolvers<void>();
    old!.drained = () => ended.promise;
    found = () => Promise.resolve(['127.0.0.3']);
    await until(() => ids().length === 2);
    found = () => Promise.resolve(['127.0.0.2']);
    await until(() => roster.get('m@127.0.0.3:9') === undefined);
    ended.resolve();
    await until(() => roster.all.length === 1 && roster.all[0] !== old);
    expect(ids()).toEqual(['m@127.0.0.2:9']);
  });

  it('keeps workers drained that are made anew, until they are resumed', async () => {
    made({ addresses: ['127.0.0.1:9'] });
    const isDrained = () => roster.get('m-0')?.view().drained;
    expect([roster.order(roster.get('m-0')!, 'drain'), isDrained()]).toEqual([true, true]);
    expect(roster.order(roster.get('m@127.0.0.1:9')!, 'restart')).toBe(false);
    roster.populate();
    expect([isDrained(), roster.get('m@127.0.0.1:9')?.view().drained]).toEqual([true, false]);
    roster.order(roster.get('m-0')!, 'resume');
    roster.populate();
    expect(isDrained()).toBe(false);
    await settled();
  });

  it('makes its workers anew for a device, and keeps them without one', () => {
    made();
    const [worker] = roster.all;
    roster.start(undefined);
    expect(roster.all[0]).toBe(worker);
    made();
    const [before] = roster.all;
    roster.start('cuda:1');
    expect([roster.all[0] === before, roster.all[0]?.options.device]).toEqual([false, 'cuda:1']);
    expect(roster.all[0]?.state).not.toBe('stopped');
  });

  it('has in place of its own workers those that another gateway runs', async () => {
    made({ replicas: 2 });
    roster.follow([elsewhere('m-0'), elsewhere('m-1')]);
    const [one, two] = roster.all;
    expect([one?.options.location.isElsewhere, one?.state]).toEqual([true, 'starting']);
    roster.follow([elsewhere('m-0', 2)]);
    expect([roster.all[0] === one, one?.options.location.status.pid]).toEqual([true, 2]);
    expect([ids(), two?.isClosing]).toEqual([['m-0'], true]);
    roster.follow([]);
    expect(ids()).toEqual(['m-0', 'm-1']);
    expect(roster.all.map(({ options }) => options.location.isElsewhere ?? false)).toEqual([
      false,
      false,
    ]);
    await until(() => one?.isClosing === true);
    const [own] = roster.all;
    roster.follow([]);
    expect(roster.all[0]).toBe(own);
  });

  it('starts its own workers where another gateway ran them until then', async () => {
    made();
    roster.follow([elsewhere('m-0')]);
    const [other] = roster.all;
    roster.start(undefined);
    expect(roster.all[0]).not.toBe(other);
    expect([other?.isClosing, roster.all[0]?.state]).toEqual([true, 'starting']);
    await until(() => roster.all[0]?.state === 'ready');
  });

  it.each(['stop', 'close'] as const)(
    'ends with its workers, and follows no address: %s',
    async how => {
      made({ replicas: 2, addresses: ['workers.lan:9'] });
      roster.start(undefined);
      await until(() => ids().length === 3);
      await roster[how]();
      expect(roster.all.every(({ isClosing }) => isClosing)).toBe(true);
      found = () => Promise.resolve(['127.0.0.3']);
      await pause(20);
      expect(ids()).toHaveLength(3);
    },
  );

  it('cannot be secured without the files that it names', () => {
    made({ remote: { tokenFile: '/gone' } });
    expect(() => roster.secure()).toThrow('/gone');
    made();
    expect(() => roster.secure()).not.toThrow();
  });
});

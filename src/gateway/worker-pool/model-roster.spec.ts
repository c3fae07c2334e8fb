import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { modelSpec } from '../../../test/support/pool-harness.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { ModelRoster } from './model-roster.js';
import { PooledWorker } from './pooled-worker.js';
import { type WorkerOwner } from './worker-owner.js';

Logger.overrideLogger(false);

/** What is done to which worker. */
const events: string[] = [];

beforeEach(() => {
  events.length = 0;
  const record = (what: string) =>
    function (this: PooledWorker) {
      events.push(`${what} ${this.id}`);
    };
  jest.spyOn(PooledWorker.prototype, 'start').mockImplementation(record('start'));
  for (const [method, what] of [
    ['drained', 'drain'],
    ['close', 'close'],
  ] as const)
    jest.spyOn(PooledWorker.prototype, method).mockImplementation(function (this: PooledWorker) {
      record(what).call(this);
      return Promise.resolve();
    });
});
afterEach(() => {
  jest.restoreAllMocks();
});

const taken = () => events.splice(0);

/** A roster whose name server says what the test does. */
function rosterOf(spec: Partial<ModelSpec>) {
  const found: { addresses: string[] } = { addresses: [] };
  const owner = {
    settings: settingsFrom({ 'workers.dns_refresh_ms': 1 }),
    launch: { command: 'none', args: [], environment: () => ({}), stopGraceMs: 1 },
    ...{ clock: { nowMs: () => 0 }, activity: {}, executed: {}, starts: {} },
    ...{ onCapacity: () => undefined, onReturn: () => undefined },
  } as unknown as WorkerOwner;
  const roster = new ModelRoster(modelSpec(spec), owner, () => Promise.resolve(found.addresses));
  const ids = () => roster.all.map(({ id }) => id);
  return { roster, ids, found };
}

const elsewhere = (workerId: string, pid = 1, state = 'ready') => ({
  ...{ workerId, pid, state, address: 'h:1', token: 'a' },
});

const until = async (isTrue: () => boolean) => {
  while (!isTrue()) await turn();
};

describe('the workers of a model', () => {
  it('are local ones and those behind numeric addresses, from the beginning', () => {
    const { roster, ids } = rosterOf({ replicas: 2, addresses: ['10.0.0.1:7', 'name:7'] });
    expect(ids()).toEqual(['m-0', 'm-1', 'm@10.0.0.1:7']);
    expect(roster.get('m-1')?.id).toBe('m-1');
    roster.start(undefined);
    expect(taken()).toEqual(['start m-0', 'start m-1', 'start m@10.0.0.1:7']);
    void roster.stop();
  });

  it('behind a name come and go with its address records', async () => {
    const { roster, ids, found } = rosterOf({ addresses: ['name:7', '10.0.0.9:7'] });
    found.addresses = ['10.0.0.1'];
    roster.start(undefined);
    await until(() => roster.all.length === 2);
    expect(ids()).toEqual(['m@10.0.0.9:7', 'm@10.0.0.1:7']);
    found.addresses = ['10.0.0.2'];
    await until(() => ids().join() === 'm@10.0.0.9:7,m@10.0.0.2:7');
    expect(taken()).toEqual([
      ...['start m@10.0.0.9:7', 'start m@10.0.0.1:7', 'start m@10.0.0.2:7'],
      ...['drain m@10.0.0.1:7', 'close m@10.0.0.1:7'],
    ]);
    await roster.stop();
    expect(taken()).toEqual([
      ...['drain m@10.0.0.9:7', 'drain m@10.0.0.2:7', 'close m@10.0.0.9:7', 'close m@10.0.0.2:7'],
    ]);
    found.addresses = ['10.0.0.3'];
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(taken()).toEqual([]);
  });

  it('are made anew when they are unloaded or put on another device; drained ones stay so', () => {
    const { roster, ids } = rosterOf({ replicas: 2 });
    const [first, second] = roster.all;
    expect([roster.order(first!, 'drain'), roster.order(second!, 'drain')]).toEqual([true, true]);
    roster.order(second!, 'resume');
    const before = roster.all;
    roster.start(undefined);
    expect(roster.all).toEqual(before);
    roster.start('cuda:1');
    const drained = roster.all.map(worker => worker.view().drained);
    expect([ids(), drained, roster.all[0] === first]).toEqual([
      ...[['m-0', 'm-1'], [true, false], false],
    ]);
    expect(roster.all.map(worker => worker.view().device)).toEqual(['cuda:1', 'cuda:1']);
  });

  it('that cannot be ordered to restart are not held', () => {
    const { roster } = rosterOf({ addresses: ['10.0.0.1:7'] });
    expect(roster.order(roster.all[0]!, 'restart')).toBe(false);
    roster.populate();
    expect(roster.all[0]!.view().drained).toBe(false);
  });

  it('of another gateway take the places of local ones, until they are gone', () => {
    const { roster, ids } = rosterOf({ replicas: 1 });
    const [local] = roster.all;
    roster.follow([]);
    expect(roster.all).toEqual([local]);
    roster.follow([elsewhere('m-0'), elsewhere('m-1')]);
    expect([ids(), taken()]).toEqual([
      ['m-0', 'm-1'],
      ['start m-0', 'start m-1'],
    ]);
    const [first] = roster.all;
    roster.follow([elsewhere('m-0', 2)]);
    expect([roster.all, taken()]).toEqual([[first], ['drain m-1']]);
    expect(first!.options.location.status.pid).toBe(2);
    roster.follow([]);
    expect([ids(), roster.all[0] === first]).toEqual([['m-0'], false]);
    roster.follow([elsewhere('m-0')]);
    taken();
    // Its own ones take their places when it is loaded here.
    roster.start(undefined);
    expect(taken()).toEqual(['drain m-0', 'start m-0']);
    expect(roster.all[0]!.options.location.isElsewhere).toBeUndefined();
  });

  it('are closed at once, and no name is followed from then on', async () => {
    const { roster, found } = rosterOf({ replicas: 1, addresses: ['name:7'] });
    roster.start(undefined);
    await roster.close();
    found.addresses = ['10.0.0.1'];
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(taken()).toEqual(['start m-0', 'close m-0']);
  });

  it('are secured with files that can be read', () => {
    const { roster } = rosterOf({ remote: { tokenFile: '/nowhere/token' } });
    expect(() => roster.secure()).toThrow('/nowhere/token');
    expect(() => rosterOf({}).roster.secure()).not.toThrow();
  });
});

import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type PriorityQueue } from '../../core/queue/priority-queue.js';
import { type WorkerPoolService } from '../worker-pool/worker-pool.service.js';
import { type ModelView } from '../worker-pool/worker-view.js';
import { IdleUnload } from './idle-unload.js';

Logger.overrideLogger(false);

const IDLE: ModelView = {
  id: 'm',
  state: 'loaded',
  autostart: 'always',
  startsOnRequest: true,
  idleUnloadS: 60,
  running: 0,
  idleMs: 60_000,
  workers: [],
};

function unloadedOf(model: Partial<ModelView>, waiting = 0): string[] {
  const unloaded: string[] = [];
  const pool = {
    models: () => [{ ...IDLE, ...model }],
    of: (id: string) => ({
      unload: (hold: boolean) =>
        Promise.resolve(void unloaded.push(`${id} ${hold ? 'held' : 'on request'}`)),
    }),
  };
  const queue = { depthOf: () => ({ realtime: 0, batch: waiting, bytes: 0 }) };
  new IdleUnload(pool as unknown as WorkerPoolService, queue as unknown as PriorityQueue).check();
  return unloaded;
}

describe('IdleUnload', () => {
  it('unloads a model after idle_unload_s without work, and leaves its return to the next request', () => {
    expect(unloadedOf({})).toEqual(['m on request']);
  });

  it('never sooner, and never without idle_unload_s', () => {
    expect(unloadedOf({ idleMs: 59_999 })).toEqual([]);
    expect(unloadedOf({ idleUnloadS: undefined })).toEqual([]);
  });

  it('never with queued work, even while no worker is up to take it', () => {
    expect(unloadedOf({}, 1)).toEqual([]);
    expect(unloadedOf({ state: 'failed' }, 1)).toEqual([]);
  });

  it('never with running work', () => {
    expect(unloadedOf({ running: 1 })).toEqual([]);
  });

  it.each(['unloaded', 'unloading', 'loading'] as const)(
    'leaves a model alone that is %s',
    state => {
      expect(unloadedOf({ state })).toEqual([]);
    },
  );
});

import { describe, expect, it } from '@jest/globals';
import { type PooledWorker } from './pooled-worker.js';
import { sharedSlots } from './shared-slots.js';

const SLOTS = { inUse: 2, total: 8, overdraft: 1, free: 6 };
const UPSTREAM = { model: { engine: 'openai-http', options: { baseUrl: 'http://up/v1' } } };

const worker = (options: object, state = 'ready', free = 6): PooledWorker =>
  ({
    id: 'w',
    slots: SLOTS,
    state,
    options: { model: { engine: 'synthetic' }, location: {}, ...options },
    offer: () => (free > 0 ? { free } : undefined),
  }) as unknown as PooledWorker;

const REMOTE = { isRemote: true };
const slots = { workerId: 'w', account: 'w', credits: 8, overdraft: 1, inUse: 2 };

describe('the slots that several gateways share', () => {
  it('are those of a worker at an address, whose process measures what all of them send', () => {
    expect(sharedSlots([worker(REMOTE)])).toEqual([{ ...slots, measuresAll: true }]);
  });

  it('are those of an upstream, named by its address: a process of this gateway measures its own part', () => {
    const account = 'w http://up/v1';
    expect(sharedSlots([worker(UPSTREAM)])).toEqual([{ ...slots, account, measuresAll: false }]);
  });

  it('are none while a worker is of this gateway alone, or there is none', () => {
    expect(sharedSlots([worker(REMOTE), worker({})])).toBeUndefined();
    expect(sharedSlots([])).toBeUndefined();
  });

  it('are of a worker on trial what it is offered, without overdraft', () => {
    const onTrial = (free: number) => sharedSlots([worker(REMOTE, 'suspended', free)]);
    expect(onTrial(1)).toMatchObject([{ credits: 3, overdraft: 0 }]);
    expect(onTrial(0)).toMatchObject([{ credits: 2 }]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type DeviceSwaps } from '../devices/device-swaps.js';
import { type EmbeddedQueue } from '../queue/embedded-queue.js';
import { AdminDevicesController } from './devices.controller.js';

const NOW_MS = 10_000;
const model = (id: string, fields: object = {}, demand: object = {}) => ({
  id,
  stage: 'loaded',
  memory: 5,
  devices: ['cuda:0'],
  device: 'cuda:0',
  ...fields,
  demand: { waiting: 0, running: 1, oldestRealtimeMs: Infinity, ...demand },
});

/** What is shown of `cuda:0`. */
function shown({
  models = [] as object[],
  next,
  loadedBy,
  asked = [],
}: {
  readonly models?: object[];
  readonly next?: object;
  readonly loadedBy?: string;
  readonly asked?: unknown[];
}) {
  const past = (device: string, toMs?: number) => ({
    device,
    model: 'm',
    stage: 'loading',
    fromMs: 1000,
    ...(toMs !== undefined && { toMs }),
  });
  const swaps = {
    placements: { models: () => models, used: () => 7, nextOn: () => next },
    devices: () => [{ id: 'cuda:0', memory: 9 }],
    loadedBy,
    history: { since: () => [past('cuda:0', 2000), past('cuda:0'), past('cuda:1')] },
  };
  const awaited = (_: string, priority: unknown) => {
    asked.push(priority);
    return { text: 'it loads' };
  };
  return new AdminDevicesController(
    swaps as unknown as DeviceSwaps,
    { awaited } as unknown as EmbeddedQueue,
    { nowMs: () => NOW_MS },
  ).find().data[0]!;
}

describe('a device', () => {
  it('is shown with its memory and what it had, in seconds', () => {
    expect(shown({})).toMatchObject({
      id: 'cuda:0',
      memory_bytes: 9,
      used_bytes: 7,
      next: undefined,
      history: [
        { model: 'm', stage: 'loading', from: 1, to: 2 },
        { from: 1, to: null },
      ],
    });
  });

  it('has the models that are on it, and those that may come to it', () => {
    const models = [
      model('here'),
      model('there', { device: 'cuda:1' }),
      model('may', { device: undefined, stage: 'absent' }),
      model('never', { device: undefined, devices: ['cuda:1'] }),
    ];
    expect(shown({ models }).models).toMatchObject([
      { id: 'here', stage: 'loaded', memory_bytes: 5, running: 1, awaited: undefined },
      { id: 'may', stage: null },
    ]);
  });

  it.each([
    [Infinity, RequestPriority.BATCH],
    [3, RequestPriority.REALTIME],
  ])('says what requests wait for: with realtime since %p as %p', (oldestRealtimeMs, priority) => {
    const asked: unknown[] = [];
    const models = [model('m', {}, { waiting: 1, oldestRealtimeMs })];
    expect(shown({ models, asked }).models[0]!.awaited).toBe('it loads');
    expect(asked).toEqual([priority]);
  });

  it.each([
    [NOW_MS + 1500, 1.5],
    [NOW_MS - 1, 0],
    [Infinity, null],
  ])('has a next model at %p, in %p s', (atMs, in_s) => {
    const next = { model: 'b', reason: 'realtime', leaving: ['a'], atMs };
    expect(shown({ next }).next).toMatchObject({ model: 'b', leaving: ['a'], in_s });
    expect(shown({ next, loadedBy: 'gw_2' })).toMatchObject({ next: undefined, loaded_by: 'gw_2' });
  });
});

import { describe, expect, it } from '@jest/globals';
import { type Placements } from '../../core/devices/placements.js';
import { DeviceHistory } from './device-history.js';

type Place = NonNullable<ReturnType<Placements['at']>>;

const MINUTE = 60_000;

describe('DeviceHistory', () => {
  const places = new Map<string, Place>();
  const history = (
    ...events: readonly [nowMs: number, model: string, stage?: Place['stage']][]
  ) => {
    places.clear();
    const kept = new DeviceHistory();
    for (const [nowMs, model, stage] of events) {
      if (stage) places.set(model, { stage, device: 'gpu0', memory: 1, sinceMs: nowMs });
      else places.delete(model);
      kept.look({ at: id => places.get(id), present: [...places.keys()] }, nowMs);
    }
    return kept;
  };
  const seen = (kept: DeviceHistory, nowMs: number) =>
    kept.since(nowMs).map(({ model, stage, fromMs, toMs }) => [model, stage, fromMs, toMs]);

  it('has each stage of a model from its beginning to its end', () => {
    const kept = history([1, 'a', 'loading'], [2, 'a', 'loading'], [5, 'a', 'resident']);
    expect(seen(kept, 9)).toEqual([
      ['a', 'loading', 1, 5],
      ['a', 'resident', 5, undefined],
    ]);
  });

  it('ends what was on a device when the model is there no longer', () => {
    expect(seen(history([1, 'a', 'resident'], [4, 'a']), 9)).toEqual([['a', 'resident', 1, 4]]);
  });

  it('forgets what ended 15 minutes ago, and nothing that still is', () => {
    const kept = history([1, 'a', 'resident'], [2, 'b', 'resident'], [3, 'b']);
    expect(seen(kept, 16 * MINUTE)).toEqual([['a', 'resident', 1, undefined]]);
  });

  it('keeps the last thousand of those that ended, and all that still are', () => {
    const swaps = Array.from({ length: 3000 }, (_, at) => [
      [2 + at, 'b', 'resident'] as const,
      [2 + at, 'b'] as const,
    ]).flat();
    const kept = history([1, 'a', 'resident'], ...(swaps as [number, string, 'resident'][]));
    const all = kept.since(5000);
    expect(all).toHaveLength(1000);
    expect(all[0]!.model).toBe('a');
    expect(all.at(-1)!.fromMs).toBe(3001);
  });
});

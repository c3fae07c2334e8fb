import { describe, expect, it, jest } from '@jest/globals';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { SyntheticDevice } from './device.js';
import { readSyntheticOptions } from './options.js';

const signal = new AbortController().signal;

function device(options: ModelSpec['options'], crash?: () => void): SyntheticDevice {
  return new SyntheticDevice(
    readSyntheticOptions({ id: 'm', engine: 'synthetic', options } as ModelSpec),
    crash,
  );
}

describe('SyntheticDevice', () => {
  it('counts engine calls, items and the largest group', async () => {
    const gpu = device({});
    await gpu.run([{ signal, content: 'a' }]);
    await gpu.run(['b', 'c', 'd'].map(content => ({ signal, content })));
    expect(gpu.counters).toEqual({ calls: 2, items: 4, largestGroup: 3 });
  });

  it('costs no timer and no turn of the loop when the cost is 0', async () => {
    const turn = jest.fn();
    setImmediate(turn);
    await device({ steps: 100 }).run([{ signal, content: 'a' }]);
    expect(turn).not.toHaveBeenCalled();
  });

  it('takes at least baseMs + perItemMs per item', async () => {
    const started = performance.now();
    await device({ baseMs: 5, perItemMs: 5 }).run(
      ['a', 'b', 'c'].map(content => ({ signal, content })),
    );
    expect(performance.now() - started).toBeGreaterThanOrEqual(20);
  });

  it('tells after each step how much is done, and stops when nobody is left', async () => {
    const abort = new AbortController();
    const done: number[] = [];
    const gpu = device({ baseMs: 4, steps: 4 });
    await gpu.run(
      [{ signal: abort.signal, content: 'a' }],
      share => done.push(share) === 2 && abort.abort(),
    );
    expect(done).toEqual([0.25, 0.5]);
  });

  it('strikes the item whose bytes hold the marker, and crashes the process on demand', async () => {
    const crash = jest.fn();
    const faults = [
      { marker: 'BAD', action: 'fail' },
      { marker: 'KILL', action: 'crash' },
    ];
    const gpu = device({ faults }, crash);
    const call = await gpu.run(
      [Buffer.from('good'), Buffer.from('a BAD one')].map(content => ({
        signal,
        content,
      })),
    );
    expect(call.faults.map(fault => fault?.action)).toEqual([undefined, 'fail']);
    expect(crash).not.toHaveBeenCalled();
    await gpu.run([{ signal, content: 'KILL' }]);
    expect(crash).toHaveBeenCalledTimes(1);
  });

  it('never ends a call that hangs', async () => {
    const settled = jest.fn();
    void device({ faults: [{ marker: 'HANG', action: 'hang' }] })
      .run([{ signal: AbortSignal.abort(), content: 'HANG' }])
      .finally(settled);
    for (let turn = 0; turn < 20; turn++)
      await new Promise(resolve => setImmediate(resolve));
    expect(settled).not.toHaveBeenCalled();
  });
});

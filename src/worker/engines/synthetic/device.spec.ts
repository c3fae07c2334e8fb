import { describe, expect, it, jest } from '@jest/globals';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { syntheticDevice } from './device.js';
import { readSyntheticOptions } from './options.js';

const signal = new AbortController().signal;

const device = (options: ModelSpec['options'], crash?: () => void) =>
  syntheticDevice(
    readSyntheticOptions({ id: 'm', engine: 'synthetic', options } as ModelSpec),
    crash,
  );

const item = (content: Buffer | string, own = signal) => ({ requestId: 'r', signal: own, content });
type Item = ReturnType<typeof item>;
const contentOf = ({ content }: Item) => content;
const run = (
  gpu: ReturnType<typeof device>,
  items: readonly Item[],
  onStep?: (done: number) => void,
) => gpu(items, contentOf, onStep);

describe('SyntheticDevice', () => {
  it('costs no timer and no turn of the loop when the cost is 0', async () => {
    const turn = jest.fn();
    setImmediate(turn);
    await run(device({ steps: 100 }), [item('a')]);
    expect(turn).not.toHaveBeenCalled();
  });

  it('takes at least baseMs + perItemMs per item', async () => {
    const started = performance.now();
    await run(device({ baseMs: 5, perItemMs: 5 }), [item('a'), item('b'), item('c')]);
    expect(performance.now() - started).toBeGreaterThanOrEqual(20);
  });

  it('tells after each step how much is done, and stops when nobody is left', async () => {
    const abort = new AbortController();
    const done: number[] = [];
    const gpu = device({ baseMs: 4, steps: 4 });
    await run(gpu, [item('a', abort.signal)], share => done.push(share) === 2 && abort.abort());
    expect(done).toEqual([0.25, 0.5]);
  });

  it('strikes the item whose bytes hold the marker, and crashes the process on demand', async () => {
    const crash = jest.fn();
    const faults = [
      { marker: 'BAD', action: 'fail' },
      { marker: 'KILL', action: 'crash' },
    ];
    const gpu = device({ faults }, crash);
    const errors = await run(gpu, [item(Buffer.from('good')), item(Buffer.from('a BAD one'))]);
    expect(errors).toEqual([
      undefined,
      expect.objectContaining({ message: "Scripted fault 'BAD'." }),
    ]);
    expect(crash).not.toHaveBeenCalled();
    await run(gpu, [item('KILL')]);
    expect(crash).toHaveBeenCalledTimes(1);
  });

  it('never ends a call that hangs', async () => {
    const settled = jest.fn();
    const abort = new AbortController();
    const gpu = device({ faults: [{ marker: 'HANG', action: 'hang' }] });
    void run(gpu, [item('HANG', abort.signal)]).finally(settled);
    abort.abort();
    for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve));
    expect(settled).not.toHaveBeenCalled();
  });
});

import { beforeEach, describe, expect, it } from '@jest/globals';
import { DomainError, type ErrorCode } from '../../../core/errors/domain-error.js';
import { type OutputStream } from '../../inference/output-stream.js';
import { BackgroundRun } from './background-run.js';

/** How one attempt ends, after so many tokens: an error code, or undefined for a whole answer. */
type Attempt = readonly [tokens: number, code?: ErrorCode];

describe('the run of a background response', () => {
  let attempts = 0;
  let ended: unknown;

  beforeEach(() => {
    [attempts, ended] = [0, undefined];
  });

  function run(plan: readonly Attempt[], giveUpAtMs = Infinity): Promise<void> {
    const writer = {
      response: { status: 'in_progress', output: [] },
      take: (piece: unknown) => [piece],
      end: () => ['completed'],
      fail: ({ code }: DomainError) => [code],
      cancel: () => ['cancelled'],
    };
    const start = (_: unknown, output: OutputStream) => {
      const [tokens, code] = plan[attempts++] ?? [0];
      const error = code && new DomainError(code, 'It failed.');
      for (let token = 0; token < tokens; token += 1)
        output.write('{"choices":[{"delta":{"content":"a"},"token_ids":[1]}]}');
      if (error) output.fail(error);
      else output.end();
      const settlement = error ? { status: 'failed', error } : { status: 'completed' };
      return { settled: Promise.resolve({ settlement }), cancel: () => undefined };
    };
    const options = {
      writer,
      start,
      giveUpAtMs,
      tokens: [],
      early: () => false,
      gone: new AbortController().signal,
      generation: () => ({ model: {}, body: '' }),
      events: { add: () => Promise.resolve(), end: () => Promise.resolve() },
      end: (last: readonly unknown[]) => Promise.resolve(void (ended = last.at(-1))),
    };
    return new BackgroundRun(
      options as unknown as ConstructorParameters<typeof BackgroundRun>[0],
    ).run();
  }

  const lost: Attempt = [0, 'worker_lost'];

  it('goes on after three lost workers in a row, and ends with the fourth', async () => {
    await run([lost, lost, lost, [1]]);
    expect([attempts, ended]).toEqual([4, 'completed']);
    attempts = 0;
    await run([lost, lost, lost, lost, [1]]);
    expect([attempts, ended]).toEqual([4, 'worker_lost']);
  });

  it('counts lost workers anew once one has brought a token', async () => {
    await run([lost, lost, lost, [1, 'worker_lost'], lost, lost, [1]]);
    expect([attempts, ended]).toEqual([7, 'completed']);
  });

  it('no longer waits for a worker when its time is up', async () => {
    await run([[0, 'no_worker'], [1]], Date.now());
    expect([attempts, ended]).toEqual([1, 'no_worker']);
  });

  it.each([
    ['engine_failed', 'engine_failed'],
    ['request_cancelled', 'cancelled'],
  ] as const)('that ends as %s is not tried again', async (code, shown) => {
    await run([[1, code], [1]]);
    expect([attempts, ended]).toEqual([1, shown]);
  });

  it('leaves the rest to another gateway when this one ends', async () => {
    await expect(run([[1, 'shutting_down']])).rejects.toThrow('It failed.');
    expect(ended).toBeUndefined();
  });
});

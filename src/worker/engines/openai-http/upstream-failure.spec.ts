import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../../core/errors/domain-error.js';
import { problemIn, UpstreamFailure, withRetries } from './upstream-failure.js';

describe('problemIn', () => {
  it.each([
    [
      "FastAPI's list",
      '{"detail":[{"loc":["body","speed"],"msg":"too fast"},{"msg":"late"}]}',
      'speed: too fast; late',
    ],
    ["FastAPI's text", '{"detail":"Model not loaded"}', 'Model not loaded'],
    ["vLLM's bare error", '{"object":"error","message":"No.","param":null,"code":400}', 'No.'],
    ['an error that is a text', '{"error":"Out of memory"}', 'Out of memory'],
    ['plain text', 'upstream\n  request  timeout\n', 'upstream request timeout'],
    ["a proxy's page", '<html><body>502 Bad Gateway</body></html>', ''],
    ['nothing', '', ''],
    ['JSON that says nothing', '[null]', ''],
  ])('reads %s', (_title, body, message) => {
    expect(problemIn(body, undefined)).toEqual({ message, param: undefined, code: undefined });
  });

  it("reads OpenAI's error with its code and field", () => {
    const body = '{"error":{"message":"No.","param":"file","code":"bad"}}';
    expect(problemIn(body, undefined)).toEqual({ message: 'No.', param: 'file', code: 'bad' });
  });

  it('strikes the key out wherever it stands, before the text is cut at 500 characters', () => {
    const { message } = problemIn(`${'x'.repeat(495)} sk-key sk-key`, 'sk-key');
    expect(message).toBe(`${'x'.repeat(495)} *** `);
    expect(problemIn('{"error":{"message":"key sk-key is wrong"}}', 'sk-key').message).toBe(
      'key *** is wrong',
    );
  });
});

const broken = (afterMs?: number) =>
  new UpstreamFailure(new DomainError('engine_failed', 'Broken.'), { afterMs });

describe('withRetries', () => {
  function work(failures: readonly Error[], random = 0) {
    const waits: number[] = [];
    const abort = new AbortController();
    let attempts = 0;
    const run = (policy = { retries: 10, maxRetryWaitMs: 60_000 }) =>
      withRetries({
        attempt: () => {
          const failure = failures[attempts++];
          return failure ? Promise.reject(failure) : Promise.resolve('done');
        },
        policy,
        signal: abort.signal,
        timing: { sleep: ms => Promise.resolve(void waits.push(ms)), random: () => random },
      });
    return { run, waits, abort, attempts: () => attempts };
  }

  it('doubles its own wait from 0.5 s up to 8 s', async () => {
    const { run, waits } = work(Array.from({ length: 6 }, () => broken()));
    expect(await run()).toBe('done');
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 8000]);
  });

  it('leaves half of its own wait to chance, nothing of one that was asked for', async () => {
    const { run, waits } = work([broken(), broken(3000)], 1);
    await run();
    expect(waits).toEqual([250, 3000]);
  });

  it('caps every wait', async () => {
    const { run, waits } = work([broken(), broken(3000)]);
    await run({ retries: 2, maxRetryWaitMs: 100 });
    expect(waits).toEqual([100, 100]);
  });

  it('says how often it tried, if more than once', async () => {
    await expect(work([broken(), broken()]).run({ retries: 1, maxRetryWaitMs: 0 })).rejects.toThrow(
      'Broken. (2 attempts)',
    );
    await expect(work([broken()]).run({ retries: 0, maxRetryWaitMs: 0 })).rejects.toThrow(
      /^Broken\.$/,
    );
  });

  it('passes on what is final or foreign after one attempt', async () => {
    const final = work([new UpstreamFailure(new DomainError('invalid_value', 'No.'))]);
    await expect(final.run()).rejects.toMatchObject({ code: 'invalid_value' });
    const foreign = work([new Error('mine')]);
    await expect(foreign.run()).rejects.toThrow('mine');
    expect([final.attempts(), foreign.attempts()]).toEqual([1, 1]);
  });

  it('makes no attempt once aborted', async () => {
    const { run, abort, attempts } = work([]);
    abort.abort(new DomainError('request_cancelled', 'Gone.'));
    await expect(run()).rejects.toThrow('Gone.');
    expect(attempts()).toBe(0);
  });
});

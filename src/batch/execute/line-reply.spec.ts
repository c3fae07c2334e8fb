import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  type Answer,
  answerOf,
  askedMs,
  brokenBy,
  failureCauseOf,
  isGood,
  LineReply,
  OpenReplies,
} from './line-reply.js';

const controller = {
  aborted: [] as Error[],
  abort: (error: Error) => controller.aborted.push(error),
};

function reply(maxBytes = 4, signal = new AbortController().signal) {
  controller.aborted.length = 0;
  const open = new OpenReplies();
  const made = new LineReply(open, { requestId: 'sent', maxBytes, timeoutMs: 60_000, signal });
  return { made, close: () => open.close() };
}

describe('a reply to a line', () => {
  it.each([[['{', '1', '}', ' ']], [['{1} ']], [[]]])('of the pieces %j is whole', async pieces => {
    const { made, close } = reply();
    made.onRequestStart(controller as never);
    made.onResponseStart(controller as never, 201, { 'x-request-id': 'theirs' });
    for (const piece of pieces) made.onResponseData(controller as never, Buffer.from(piece));
    made.onResponseEnd();
    const answer = await made.answer;
    expect(answer).toMatchObject({ kind: 'answer', status: 201, requestId: 'theirs' });
    expect((answer as { body: Buffer }).body.toString()).toBe(pieces.join(''));
    expect(controller.aborted).toEqual([]);
    close();
  });

  it('of more bytes than it may have is dropped, and nothing that comes later counts', async () => {
    const { made, close } = reply();
    made.onRequestStart(controller as never);
    made.onResponseData(controller as never, Buffer.from('12345'));
    made.onResponseEnd();
    expect(await made.answer).toEqual({
      kind: 'too_large',
      message: 'The answer has more than 4 bytes.',
    });
    expect(controller.aborted).toHaveLength(1);
    close();
  });

  it('that was given up before it began is never sent', async () => {
    const given = new AbortController();
    const { made, close } = reply(4, given.signal);
    given.abort(new Error('given up'));
    await expect(made.answer).rejects.toThrow('given up');
    expect(controller.aborted).toEqual([]);
    made.onRequestStart(controller as never);
    expect(controller.aborted).toHaveLength(1);
    close();
  });

  it('has the id that was sent where the target tells none of its own', () =>
    expect(answerOf({ status: 200, headers: {}, body: Buffer.from('{}') }, 'sent')).toMatchObject({
      requestId: 'sent',
    }));
});

describe('what an answer says', () => {
  const answered = (status: number, headers: Record<string, string> = {}) =>
    answerOf({ status, headers, body: Buffer.from('{"error":{"code":"queue_full"}}') }, 'sent');

  it.each([
    [502, 'queue_full'],
    [503, 'queue_full'],
    [500, undefined],
    [429, undefined],
  ])('of %i has the code %s: that of a target that is away', (status, code) => {
    expect(answered(status)).toMatchObject({ code });
  });

  it.each([
    ['no JSON', undefined],
    ['{"error":{"code":7}}', undefined],
    ['{}', undefined],
    [`{"error":{"code":"a"}}${' '.repeat(16_384 - 22)}`, 'a'],
    [`{"error":{"code":"a"}}${' '.repeat(16_385 - 22)}`, undefined],
  ])('has no code in a body that is large or not an error: %.30s', (body, code) => {
    expect(answerOf({ status: 503, headers: {}, body: Buffer.from(body) }, 'sent')).toMatchObject({
      code,
    });
  });

  it('has its type and how long it asks to wait', () => {
    const answer = answered(429, { 'content-type': 'a/b', 'retry-after': '2' });
    expect(answer).toMatchObject({ contentType: 'a/b', retryAfterMs: 2000 });
    expect([askedMs(answer), askedMs(answered(429))]).toEqual([2000, undefined]);
    expect(askedMs({ kind: 'too_large', message: '' })).toBeUndefined();
  });

  it.each<[Answer | number, boolean, string | undefined]>([
    [199, false, 'final'],
    [200, true, undefined],
    [299, true, undefined],
    [300, false, 'final'],
    [500, false, 'line'],
    [{ kind: 'too_large', message: '' }, false, undefined],
    [{ kind: 'transport', cause: 'lost', message: '' }, false, 'away'],
  ])('%j is good: %s; it failed for %s', (given, isIt, cause) => {
    const answer = typeof given === 'number' ? answered(given) : given;
    expect([isGood(answer), failureCauseOf(answer)]).toEqual([isIt, cause]);
  });

  it.each([
    ['true', true],
    ['false', false],
    ['maybe', undefined],
  ])('x-should-retry: %s is %s', (header, shouldRetry) => {
    expect(answered(400, { 'x-should-retry': header })).toMatchObject({ shouldRetry });
  });
});

describe('a connection that broke', () => {
  it.each([
    ['ECONNREFUSED', 'refused'],
    ['EMFILE', 'refused'],
    ['ECONNRESET', 'lost'],
    [undefined, 'lost'],
  ])('with %s is %s', (code, cause) =>
    expect(brokenBy(Object.assign(new Error('x'), { code }))).toMatchObject({ cause }),
  );
});

describe('the open replies of a target', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    controller.aborted.length = 0;
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const openReply = (
    open: OpenReplies,
    timeoutMs: number,
    signal = new AbortController().signal,
  ) => {
    const made = new LineReply(open, { requestId: 'sent', maxBytes: 4, timeoutMs, signal });
    const seen: { answer?: Answer; error?: unknown } = {};
    made.answer.then(
      answer => (seen.answer = answer),
      (error: unknown) => (seen.error = error),
    );
    made.onRequestStart(controller as never);
    return { made, seen };
  };

  it('time out each at its own time, with one timer, and are dropped by then', async () => {
    const open = new OpenReplies();
    const [first, answered, last] = [100, 150, 300].map(ms => openReply(open, ms));
    expect(jest.getTimerCount()).toBe(1);
    answered!.made.onResponseEnd();
    await jest.advanceTimersByTimeAsync(95);
    expect(first!.seen.answer).toBeUndefined();
    // Rounding may cost a few milliseconds.
    await jest.advanceTimersByTimeAsync(10);
    const message = 'No answer within 100 ms; the request is not retried.';
    expect(first!.seen.answer).toEqual({ kind: 'transport', cause: 'timeout', message });
    expect(controller.aborted).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(190);
    expect(last!.seen.answer).toBeUndefined();
    await jest.advanceTimersByTimeAsync(10);
    expect([last!.seen.answer?.kind, controller.aborted.length]).toEqual(['transport', 2]);
    expect(answered!.seen.answer?.kind).toBe('answer');
    // Nothing is open: no timer.
    expect(jest.getTimerCount()).toBe(0);
    const later = openReply(open, 50);
    await jest.advanceTimersByTimeAsync(60);
    expect(later.seen.answer?.kind).toBe('transport');
    openReply(open, 50);
    open.close();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('of one job are given up together, those that have answers not, with one listener', async () => {
    const open = new OpenReplies();
    const given = new AbortController();
    const listen = jest.spyOn(given.signal, 'addEventListener');
    const lines = Array.from({ length: 5 }, () => openReply(open, 1000, given.signal));
    const other = openReply(open, 1000);
    expect(listen).toHaveBeenCalledTimes(1);
    for (const at of [0, 3]) lines[at]!.made.onResponseEnd();
    given.abort(new Error('given up'));
    await jest.advanceTimersByTimeAsync(0);
    expect(lines.map(({ seen }) => seen.answer?.kind ?? String(seen.error))).toEqual([
      ...['answer', 'Error: given up', 'Error: given up', 'answer', 'Error: given up'],
    ]);
    expect([controller.aborted.length, other.seen]).toEqual([3, {}]);
    // None of them times out later.
    await jest.advanceTimersByTimeAsync(2000);
    expect([controller.aborted.length, other.seen.answer?.kind]).toEqual([4, 'transport']);
    open.close();
  });

  it('that broke are no longer open', async () => {
    const open = new OpenReplies();
    const broken = openReply(open, 100);
    broken.made.onResponseError(controller as never, new Error('x'));
    await jest.advanceTimersByTimeAsync(200);
    expect(broken.seen.answer).toMatchObject({
      cause: 'lost',
      message: expect.stringContaining('(x)'),
    });
    expect(controller.aborted).toEqual([]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { answerOf, brokenBy, LineReply, OpenReplies } from './line-reply.js';

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

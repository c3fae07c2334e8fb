import { describe, expect, it } from '@jest/globals';
import { verdictOn } from './line-sender.js';

describe('verdictOn', () => {
  const context = {
    tried: { failed: 0, busy: 0 },
    limits: { attempts: 2, initialMs: 10, maxMs: 100 },
    nowMs: 0,
    deadlineMs: 1000,
    answers: 0,
    isProbe: false,
  };
  const answer = (status: number) =>
    ({
      kind: 'answer',
      status,
      contentType: '',
      body: Buffer.alloc(0),
      requestId: '',
    }) as const;

  it('settles good answers, final ones, time-outs and answers that are too large', () => {
    for (const status of [200, 400, 404, 422])
      expect(verdictOn(answer(status), context)).toBeUndefined();
    expect(
      verdictOn({ kind: 'transport', cause: 'timeout', message: '' }, context),
    ).toBeUndefined();
    expect(verdictOn({ kind: 'too_large', message: '' }, context)).toBeUndefined();
  });

  it('lets failed and busy attempts count apart', () => {
    expect(verdictOn(answer(500), context)).toMatchObject({
      kind: 'again',
      tried: { failed: 1, busy: 0 },
    });
    expect(verdictOn(answer(429), context)).toMatchObject({
      kind: 'again',
      tried: { failed: 0, busy: 1 },
    });
    expect(verdictOn(answer(500), { ...context, tried: { failed: 1, busy: 0 } })).toBeUndefined();
    expect(verdictOn(answer(503), { ...context, tried: { failed: 1, busy: 1 } })?.kind).toBe(
      'again',
    );
  });

  it('counts a broken connection as a failure only when the target was up: a probe, or other answers since', () => {
    const lost = { kind: 'transport', cause: 'lost', message: '' } as const;
    const first = verdictOn(lost, { ...context, answers: 7 });
    expect(first).toEqual({ kind: 'again', tried: { failed: 0, busy: 0, lostAt: 7 }, afterMs: 0 });
    const tried = { failed: 0, busy: 0, lostAt: 7 };
    expect(verdictOn(lost, { ...context, tried, answers: 7 })).toMatchObject({
      tried: { failed: 0 },
    });
    expect(verdictOn(lost, { ...context, tried, answers: 8 })).toMatchObject({
      tried: { failed: 1, lostAt: 8 },
    });
    expect(verdictOn(lost, { ...context, tried, answers: 7, isProbe: true })).toMatchObject({
      tried: { failed: 1 },
    });
    expect(
      verdictOn(lost, { ...context, tried: { ...tried, failed: 1 }, answers: 8 }),
    ).toBeUndefined();
  });

  it('settles when the deadline comes before the next attempt', () => {
    expect(verdictOn({ ...answer(429), retryAfterMs: 5000 }, context)).toBeUndefined();
  });
});

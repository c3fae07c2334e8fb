import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type BatchJob } from '../../core/jobs/batch-job.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type InputLines } from '../job/input-lines.js';
import { type ResultFiles } from '../job/result-files.js';
import { type LineMetrics } from '../observe/job.metrics.js';
import { type LineLane } from './line-lane.js';
import { type Answer } from './line-reply.js';
import { LineSender, verdictOn } from './line-sender.js';
import { type LineTarget } from './line-target.js';
import { TargetGate } from './target-gate.js';
import { type TargetResolver } from './target-resolver.js';

Logger.overrideLogger(false);

const transport = (cause: 'refused' | 'lost' | 'timeout') =>
  ({ kind: 'transport', cause, message: 'no answer' }) as const;
const TOO_LARGE = { kind: 'too_large', message: 'much' } as const;

describe('verdictOn', () => {
  const verdict = (answer: object, changes: object = {}) =>
    verdictOn(answer as Answer, {
      tried: { failed: 0, busy: 0 },
      limits: { attempts: 2, initialMs: 10, maxMs: 100 },
      ...{ nowMs: 0, deadlineMs: 1000, answers: 0, isProbe: false, ...changes },
    });
  const answer = (status: number) => ({ kind: 'answer', status });
  const lost = transport('lost');

  it('settles good answers, final ones, time-outs and answers that are too large', () => {
    for (const settled of [...[200, 400, 404, 422].map(answer), transport('timeout'), TOO_LARGE])
      expect(verdict(settled)).toBeUndefined();
  });

  it('lets failed and busy attempts count apart', () => {
    expect(verdict(answer(500))).toMatchObject({ kind: 'again', tried: { failed: 1, busy: 0 } });
    expect(verdict(answer(429))).toMatchObject({ kind: 'again', tried: { failed: 0, busy: 1 } });
    expect(verdict(answer(500), { tried: { failed: 1, busy: 0 } })).toBeUndefined();
    expect(verdict(answer(503), { tried: { failed: 1, busy: 1 } })?.kind).toBe('again');
  });

  it('counts a broken connection as a failure only when the target was up: a probe, or other answers since', () => {
    const tried = { failed: 0, busy: 0, lostAt: 7 };
    expect(verdict(lost, { answers: 7 })).toEqual({ kind: 'again', tried, afterMs: 0 });
    expect(verdict(lost, { tried, answers: 7 })).toMatchObject({ tried });
    expect(verdict(lost, { tried, answers: 8 })).toMatchObject({ tried: { failed: 1, lostAt: 8 } });
    const probed = verdict(lost, { tried, answers: 7, isProbe: true });
    expect(probed).toMatchObject({ tried: { failed: 1 } });
    expect(verdict(lost, { tried: { ...tried, failed: 1 }, answers: 8 })).toBeUndefined();
  });

  it('never takes a refused connection as the fault of the line', () => {
    const again = { kind: 'again', tried: { failed: 0, busy: 0 }, afterMs: 0 };
    expect(verdict(transport('refused'), { isProbe: true })).toEqual(again);
  });

  it('settles when the deadline comes before the next attempt', () => {
    expect(verdict({ ...answer(429), retryAfterMs: 5000 })).toBeUndefined();
  });
});

describe('an attempt at a line', () => {
  type Request = Parameters<LineTarget['exchange']>[0];
  const usage = { prompt_tokens: 1, completion_tokens: 2 };
  const good = (body: object | string = { usage }, contentType = 'application/json'): Answer => ({
    ...{ kind: 'answer', status: 200, contentType, requestId: 'r' },
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  });
  const status = (code: number, more: object = {}) =>
    ({ ...good({}), status: code, ...more }) as Answer;

  interface Case {
    readonly job?: Partial<BatchJob>;
    readonly body?: string;
    readonly isGateway?: boolean;
    readonly hasTarget?: boolean;
    /** Another address of the target may answer. */
    readonly isReachable?: boolean;
    readonly gate?: TargetGate;
    /** Stores the audio of an answer. */
    readonly save?: () => Promise<object>;
  }

  /** Sends one line of the model `m`, and says what came of it. */
  async function attempt(answer: Answer, given: Case = {}) {
    const { gate = new TargetGate(10, { firstMs: 60_000, longestMs: 60_000 }) } = given;
    const requests: Request[] = [];
    const events: string[] = [];
    const target = {
      spec: {
        fetchesFileUrl: given.isGateway ?? true,
        retries: { attempts: 3, initialMs: 10, maxMs: 100 },
      },
      name: 'target',
      isReachable: () => given.isReachable ?? false,
      exchange: (request: Request) => {
        requests.push(request);
        return Promise.resolve(answer);
      },
    };
    const sender = new LineSender(
      {
        targetOf: () => ((given.hasTarget ?? true) ? target : undefined),
      } as unknown as TargetResolver,
      { save: given.save ?? (() => Promise.resolve({ id: 'file-9' })) } as unknown as ResultFiles,
      {
        attempted: (model: string, seconds: number) =>
          events.push(`attempted ${model} ${seconds >= 0 && seconds * 1000 < performance.now()}`),
        retried: (model: string, reason: string) => events.push(`retried ${model} ${reason}`),
        settled: (model: string, isGood: boolean, used?: object) =>
          events.push(`settled ${model} ${isGood} ${JSON.stringify(used)}`),
      } as unknown as LineMetrics,
      settingsFrom({}),
      ...([{}, {}] as never as [never, never]),
    );
    const job = {
      ...{ id: 'batch_1', tenant: 't', endpoint: '/v1/chat/completions' },
      ...{ expiresAtMs: Date.now() + 60_000, ...given.job },
    } as BatchJob;
    const line = Buffer.from(`{"custom_id":"a","body":${given.body ?? '{"model":"m"}'}}`);
    const outcome = await sender.attempt({
      claim: { job, epoch: 1 },
      lane: { model: 'm', gate } as LineLane,
      ticket: { index: 5, entry: {} as never, tried: { failed: 0, busy: 0 } },
      input: { read: () => line } as unknown as InputLines,
      signal: new AbortController().signal,
    });
    const text = 'line' in outcome ? String(outcome.line) : '';
    const body = requests[0]?.body();
    const sent = body instanceof Uint8Array ? Buffer.from(body).toString() : undefined;
    return { outcome, text, events, gate, request: requests[0], sent };
  }

  it('sends its body as it is, under its own id, and settles it', async () => {
    const { outcome, text, events, request, sent } = await attempt(good(), {
      body: '{"model":"m", "n": 12345678901234567890}',
    });
    expect(request).toMatchObject({
      ...{ path: '/v1/chat/completions', requestId: 'batch_1-5', contentType: 'application/json' },
      bytes: sent!.length,
    });
    expect(sent).toBe('{"model":"m", "n": 12345678901234567890}');
    expect([outcome.kind, text.includes('"custom_id":"a"')]).toEqual(['O', true]);
    const tokens = { inputTokens: 1, outputTokens: 2, cachedTokens: 0, reasoningTokens: 0 };
    expect(events).toEqual(['attempted m true', `settled m true ${JSON.stringify(tokens)}`]);
  });

  it.each([
    [status(500), 'retried m 500', 1, 0],
    [status(429), 'retried m 429', 0, 1],
    [transport('refused'), 'retried m refused', 0, 0],
    [transport('lost'), 'retried m lost', 0, 0],
  ])('puts the line back for %j', async (answer, event, failed, busy) => {
    const { outcome, events } = await attempt(answer);
    expect(outcome).toMatchObject({ kind: 'again', tried: { failed, busy } });
    expect(events).toEqual(['attempted m true', event]);
  });

  it.each([
    [status(400), 'settled m false undefined', '"status_code":400'],
    [transport('timeout'), 'settled m false undefined', 'request_timeout'],
    [TOO_LARGE, 'settled m false undefined', 'too_large'],
  ])('settles the line as an error for %j', async (answer, event, text) => {
    const found = await attempt(answer);
    expect([found.outcome.kind, found.events[1]]).toEqual(['E', event]);
    expect(found.text).toContain(text);
  });

  it('counts a line that breaks its connection as a probe as failed', async () => {
    const gate = new TargetGate(10, { firstMs: 1, longestMs: 1 });
    gate.failed(0);
    const { outcome } = await attempt(transport('lost'), { gate });
    expect(outcome).toMatchObject({ kind: 'again', tried: { failed: 1, lostAt: 0 } });
  });

  it('does not try again what cannot be answered before the deadline of its batch', async () => {
    const { outcome } = await attempt(status(429), { job: { expiresAtMs: Date.now() } });
    expect(outcome.kind).toBe('E');
  });

  const termsOf = (model: string) => ({ key: 'k', models: [model] });

  it.each<[string, Case, string | undefined]>([
    ['has no target', { hasTarget: false }, 'No target is configured'],
    [
      'its key may not use',
      { isGateway: false, job: { terms: termsOf('n') } },
      'No target is configured',
    ],
    ['its key may use', { isGateway: false, job: { terms: termsOf('m') } }, undefined],
    ['the gateway checks', { job: { terms: termsOf('n') } }, undefined],
  ])('of a model that %s', async (_, given, message) => {
    const { text, request, events } = await attempt(good(), given);
    expect(request === undefined).toBe(message !== undefined);
    if (message === undefined) return;
    expect(text).toContain(message);
    expect(text).toContain('"code":"model_not_found"');
    expect(events).toEqual([]);
  });

  it.each([
    ['{"input":"x","response_encoding":"base64"}', '"audio":"UklGRg=="'],
    ['{"input":"x"}', '"file_id":"file-9"'],
  ])('at speech stores the audio as the line %s asks', async (body, expected) => {
    const job = { endpoint: '/v1/audio/speech' } as const;
    const { text, sent } = await attempt(good('RIFF', 'audio/wav'), { job, body });
    expect([sent, text.includes(expected)]).toEqual(['{"input":"x"}', true]);
  });

  it.each(['transcriptions', 'translations'] as const)('at %s sends a form', async kind => {
    const job = { endpoint: `/v1/audio/${kind}` } as const;
    const body = '{"audio":"UklGRg==","response_encoding":"base64"}';
    const { request, outcome } = await attempt(good({ text: 'hi' }), { job, body });
    expect(request!.contentType).toContain('multipart/form-data');
    expect(outcome.kind).toBe('O');
    const wrong = await attempt(good(), { job, body: '{}' });
    expect([wrong.outcome.kind, wrong.request]).toEqual(['E', undefined]);
    expect(wrong.text).toContain('"param":"file_id"');
  });

  it('passes on the error of a disk', async () => {
    const disk = new Error('disk');
    const job = { endpoint: '/v1/audio/speech' } as const;
    const failing = attempt(good('RIFF', 'audio/wav'), { job, save: () => Promise.reject(disk) });
    await expect(failing).rejects.toBe(disk);
  });

  describe('tells the gate of the model', () => {
    const now = () => performance.now();

    it.each<[string, Answer, { slots: number; answers: number; isClosed: boolean }]>([
      ['good', good(), { slots: 10, answers: 1, isClosed: false }],
      ['busy', status(429), { slots: 5, answers: 1, isClosed: false }],
      [
        'busy for a while',
        status(429, { retryAfterMs: 60_000 }),
        { slots: 5, answers: 1, isClosed: true },
      ],
      ['failing', status(500), { slots: 5, answers: 1, isClosed: false }],
      ['wrong', status(499), { slots: 10, answers: 1, isClosed: false }],
      ['too late', transport('timeout'), { slots: 5, answers: 0, isClosed: false }],
      ['too large', TOO_LARGE, { slots: 10, answers: 1, isClosed: false }],
      ['unavailable', status(503), { slots: 5, answers: 0, isClosed: true }],
      ['not reached', transport('refused'), { slots: 10, answers: 0, isClosed: true }],
      ['lost', transport('lost'), { slots: 10, answers: 0, isClosed: true }],
    ])('an answer that is %s', async (_, answer, expected) => {
      const { gate } = await attempt(answer);
      const { slots, answers } = gate;
      expect({ slots, answers, isClosed: gate.closedUntilMs > now() }).toEqual(expected);
    });

    it('nothing of an address that is away while another is not', async () => {
      const { gate } = await attempt(transport('refused'), { isReachable: true });
      expect([gate.isAway, gate.slots]).toEqual([false, 10]);
    });

    it('that the target is back, and for how long it asked to wait', async () => {
      const gate = new TargetGate(10, { firstMs: 1, longestMs: 1 });
      await attempt(status(503, { retryAfterMs: 60_000 }), { gate });
      expect([gate.isAway, gate.closedUntilMs > now() + 30_000]).toEqual([true, true]);
      const succeeded = jest.spyOn(gate, 'succeeded');
      await attempt(good(), { gate });
      expect([gate.isAway, succeeded.mock.calls.length]).toEqual([false, 1]);
      await attempt(status(400), { gate });
      expect(succeeded).toHaveBeenCalledTimes(1);
    });
  });
});

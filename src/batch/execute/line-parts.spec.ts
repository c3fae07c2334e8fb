import { describe, expect, it } from '@jest/globals';
import { lineParts } from '../job/input-lines.js';
import { answerLine, errorLine } from '../job/output-line.js';
import { JobStop } from '../lease/job-stop.js';
import { multipartForm } from './audio-upload.js';
import { lineUsage } from './line-result.js';
import { verdictOn } from './line-sender.js';

const bytesOf = async (source: AsyncIterable<Uint8Array>) => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of source) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

describe('lineParts', () => {
  it('finds custom_id and body as bytes, whatever is around them', () => {
    const line = Buffer.from(
      '{"url":"/x", "body" : {"n": 12345678901234567890, "body":1} ,"custom_id":"\\u0061\\"b"}',
    );
    expect(lineParts(line).body.toString()).toBe('{"n": 12345678901234567890, "body":1}');
    expect(lineParts(line).customIdJson).toBe('"\\u0061\\"b"');
  });
});

describe('output lines', () => {
  it('hold the answer’s JSON as it came, on one line', () => {
    const body = '{\r\n "n": 12345678901234567890\n}';
    const line = answerLine('"a"', 200, 'r', body);
    expect(line).toContain('"body":{  "n": 12345678901234567890 }');
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({
      custom_id: 'a',
      response: { status_code: 200, request_id: 'r' },
      error: null,
    });
  });

  it('of lines without an answer have a null response', () => {
    expect(JSON.parse(errorLine('a', { code: 'batch_expired', message: 'm' }))).toEqual({
      id: expect.stringMatching(/^batch_req_[0-9a-f]{32}$/),
      custom_id: 'a',
      response: null,
      error: { code: 'batch_expired', message: 'm' },
    });
  });
});

describe('verdictOn', () => {
  const context = {
    tried: { failed: 0, busy: 0 },
    limits: { attempts: 2, busyAttempts: 3, initialMs: 10, maxMs: 100 },
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

describe('usageOf', () => {
  it('reads both spellings with their details, and nothing from audio seconds', () => {
    expect(
      lineUsage({
        usage: {
          prompt_tokens: 5,
          completion_tokens: 7,
          prompt_tokens_details: { cached_tokens: 2 },
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      }),
    ).toEqual({ inputTokens: 5, outputTokens: 7, cachedTokens: 2, reasoningTokens: 3 });
    expect(lineUsage({ usage: { input_tokens: 5, output_tokens: 0 } })).toMatchObject({
      inputTokens: 5,
      outputTokens: 0,
    });
    for (const body of [null, 'text', {}, { usage: { type: 'duration', seconds: 3 } }])
      expect(lineUsage(body)).toBeUndefined();
  });
});

describe('MultipartForm', () => {
  it('has exactly the length that it says, and cannot be broken by names', async () => {
    const open = async function* (): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.from('AUDIO'));
    };
    const form = multipartForm(
      [
        ['model', 'ü'],
        ['a"\r\nb', 'x'],
      ],
      { name: 'a".wav', bytes: 5, open },
    );
    const text = await bytesOf(form.body() as AsyncIterable<Uint8Array>);
    expect(Buffer.byteLength(text)).toBe(form.bytes);
    expect(text).toContain('name="a%22%0D%0Ab"');
    expect(text).toContain(
      'filename="a%22.wav"\r\nContent-Type: application/octet-stream\r\n\r\nAUDIO\r\n--',
    );
  });
});

describe('JobStop', () => {
  it('keeps the strongest reason and reports each change', () => {
    const stop = new JobStop();
    const heard: string[] = [];
    stop.listen(reason => heard.push(reason));
    for (const reason of ['expired', 'cancelled', 'expired', 'shutdown', 'lost', 'failed'] as const)
      stop.request(reason);
    expect(heard).toEqual(['expired', 'cancelled', 'shutdown', 'lost']);
    expect([stop.reason, stop.handsOver]).toEqual(['lost', true]);
  });
});

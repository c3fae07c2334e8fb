import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DeviceGone } from '@switchyard/engine-api/engine.js';
import { filter, firstValueFrom } from 'rxjs';
import { REAL_TIMING } from '../../../src/platform/http/retry-after.js';
import { encoded, synthesizeItem, transcribeItem } from '../../contract/engines/engine-items.js';
import { freePort } from '../../support/free-port.js';
import { OpenAiUpstream } from '../../support/openai-upstream.js';
import { errorOf, UpstreamRig } from './upstream-rig.js';

const refused = (status: number, headers = {}, body = '') =>
  ({ kind: 'status', status, headers, body }) as const;
const ITEM = transcribeItem(encoded('one'), { wordTimestamps: false });

let rig: UpstreamRig;
beforeEach(async () => {
  rig = await UpstreamRig.start();
});
afterEach(() => rig[Symbol.asyncDispose]());

describe('openai-http tries again', () => {
  it('after 429, as late as Retry-After says, and sends the whole upload again', async () => {
    rig.upstream.script(refused(429, { 'retry-after': '7' }));
    const engine = await rig.recognizer();
    expect(await engine.transcribe([ITEM])).toMatchObject([
      { ok: true, value: { text: 'I heard one' } },
    ]);
    expect(rig.timing.waits).toEqual([7000]);
    expect((await rig.upstream.posts[1]!.form()).get('file')).toHaveProperty('size', 3);
  });

  it('prefers retry-after-ms, and never waits longer than maxRetryWaitMs', async () => {
    rig.upstream.script(
      refused(503, { 'retry-after-ms': '40', 'retry-after': '9' }),
      refused(429, { 'retry-after': '3600' }),
    );
    const engine = await rig.recognizer({ maxRetryWaitMs: 2000 });
    expect(await engine.transcribe([ITEM])).toMatchObject([{ ok: true }]);
    expect(rig.timing.waits).toEqual([40, 2000]);
  });

  it.each([408, 500, 502, 503, 504])(
    'after %i, doubling its own wait, and gives up as engine_failed',
    async status => {
      rig.upstream.script(...Array.from({ length: 4 }, () => refused(status, {}, 'out of memory')));
      const engine = await rig.recognizer({ retries: 3 });
      const error = errorOf(await engine.transcribe([ITEM]));
      expect(error).toMatchObject({ code: 'engine_failed' });
      expect(error.message).toBe(
        `The upstream of model 'openai-http-under-test' answered ${status}. It says: out of memory (4 attempts)`,
      );
      expect(rig.timing.waits).toEqual([500, 1000, 2000]);
      expect(rig.upstream.posts).toHaveLength(4);
    },
  );

  it('and ends as queue_full with the time to wait when the upstream stays at its limit', async () => {
    rig.upstream.script(refused(429), refused(429, { 'retry-after': '12' }));
    const engine = await rig.recognizer({ retries: 1 });
    expect(errorOf(await engine.transcribe([ITEM]))).toMatchObject({
      code: 'queue_full',
      retryAfterMs: 12_000,
    });
  });

  it('at once on a new connection when a kept one turns out to be closed, whatever `retries` is', async () => {
    const cut = { kind: 'cut', after: 'request' } as const;
    rig.upstream.script(cut);
    const engine = await rig.recognizer({ maxConcurrent: 1, retries: 0 });
    expect(await engine.transcribe([ITEM])).toMatchObject([{ ok: true }]);
    expect([rig.upstream.posts.length, rig.timing.waits]).toEqual([2, []]);
  });

  it('for speech as well, as long as nothing was spoken', async () => {
    rig.upstream.script(refused(500));
    const speech = synthesizeItem('Hello there.', 'v1');
    expect(await (await rig.synthesizer()).synthesize([speech.item])).toMatchObject([{ ok: true }]);
    expect(rig.upstream.posts).toHaveLength(2);
  });
});

describe('openai-http does not try again', () => {
  const message = (text: string, more = {}) =>
    JSON.stringify({ error: { message: text, ...more } });

  it.each([
    [400, message('Too loud.'), 'invalid_value', undefined],
    [400, message('Not audio.', { param: 'file' }), 'invalid_audio', 'file'],
    [413, message('Over 25 MB.'), 'file_too_large', undefined],
    [
      422,
      '{"detail": [{"loc": ["body", "temperature"], "msg": "too hot"}]}',
      'invalid_value',
      undefined,
    ],
    [400, message('No such model.', { param: 'model' }), 'engine_failed', undefined],
    [404, message('The model m does not exist.'), 'engine_failed', undefined],
    [
      429,
      message('You exceeded your quota.', { code: 'insufficient_quota' }),
      'engine_failed',
      undefined,
    ],
    [302, '', 'engine_failed', undefined],
  ])('%i %s: %s', async (status, body, code, param) => {
    rig.upstream.script(refused(status, {}, body));
    const engine = await rig.recognizer();
    expect(errorOf(await engine.transcribe([ITEM]))).toMatchObject({ code, param });
    expect(rig.upstream.posts).toHaveLength(1);
  });

  it.each([
    ['content_policy_violation', 'invalid_value', 'content_policy_violation'],
    ['context_length_exceeded', 'context_length_exceeded', undefined],
    ['queue_full', 'invalid_value', undefined],
  ])('with the code of the upstream: %s', async (told, code, foreignCode) => {
    rig.upstream.script(refused(400, {}, message('No.', { code: told })));
    const engine = await rig.recognizer();
    expect(errorOf(await engine.transcribe([ITEM]))).toMatchObject({
      code,
      foreignCode,
    });
  });

  it('a redirect, whose address is not for callers', async () => {
    rig.upstream.script(refused(308, { location: 'http://10.0.0.7:9000/internal?key=k' }));
    const engine = await rig.recognizer();
    const { message: said } = errorOf(await engine.transcribe([ITEM]));
    expect(said).toContain('a redirect, which is not followed: set options.baseUrl');
    expect(said).not.toMatch(/10\.0\.0\.7|internal/);
  });

  it('when the upstream says x-should-retry: false', async () => {
    rig.upstream.script(refused(500, { 'x-should-retry': 'false' }));
    const engine = await rig.recognizer();
    expect(errorOf(await engine.transcribe([ITEM]))).toMatchObject({
      code: 'engine_failed',
    });
    expect(rig.upstream.posts).toHaveLength(1);
  });

  it.each([
    ['hangs', { kind: 'hang' }, 'sent and took no byte for 200 ms (options.timeoutMs)'],
    [
      'stops in the middle',
      { kind: 'cut', after: 'head' },
      'ended the connection before its answer was complete',
    ],
    [
      'talks nonsense',
      { kind: 'body', type: 'application/json', body: '{"text": 7' },
      'no JSON with `text`',
    ],
    [
      'answers with something else',
      { kind: 'body', type: 'application/json', body: '{"ok": true}' },
      'no JSON with `text`',
    ],
  ] as const)('when the upstream %s', async (_title, step, words) => {
    rig.upstream.script(step);
    const engine = await rig.recognizer({ timeoutMs: 200, maxConcurrent: 1 });
    const error = errorOf(await engine.transcribe([ITEM]));
    expect(error).toMatchObject({ code: 'engine_failed' });
    expect(error.message).toContain(words);
    expect(rig.upstream.posts).toHaveLength(1);
    expect(await engine.transcribe([ITEM])).toMatchObject([{ ok: true }]);
  });

  it('while nobody listens: the request is returned, and the engine probes', async () => {
    const port = await freePort();
    const engine = await rig.recognizer({ baseUrl: `http://127.0.0.1:${port}/v1` });
    const { message } = errorOf(await engine.transcribe([ITEM]));
    expect(message).toBe("The upstream of model 'openai-http-under-test' cannot be reached.");
    expect(errorOf(await engine.transcribe([ITEM]))).toMatchObject({
      code: 'upstream_unavailable',
    });
    expect([engine.away$.value, rig.timing.waits]).toEqual([true, []]);
    await using _back = await OpenAiUpstream.start({ port });
    await firstValueFrom(engine.away$.pipe(filter(away => !away)));
    expect(await engine.transcribe([ITEM])).toMatchObject([{ ok: true }]);
  });

  it('when a new connection is cut: the input may be the cause', async () => {
    const cut = { kind: 'cut', after: 'request' } as const;
    rig.upstream.script(cut, cut);
    const engine = await rig.recognizer({ maxConcurrent: 1 });
    const error = errorOf(await engine.transcribe([ITEM]));
    expect(error).toBeInstanceOf(DeviceGone);
    expect(error).toMatchObject({ code: 'worker_lost' });
    expect(error.message).toMatch(/without an answer \(ECONNRESET\)\.$/);
    expect([rig.upstream.posts.length, rig.timing.waits]).toEqual([2, []]);
  });

  it('while a proxy resets each connection: it counts against one attempt, not against all', async () => {
    const port = await freePort();
    const first = await OpenAiUpstream.start({ port });
    const engine = await rig.recognizer({ baseUrl: `http://127.0.0.1:${port}/v1` });
    await first[Symbol.asyncDispose]();
    let posts = 0;
    const proxy = createServer(socket =>
      socket.once('data', head => {
        if (head.toString().startsWith('POST')) posts += 1;
        socket.resetAndDestroy();
      }),
    );
    await once(proxy.listen(port, '127.0.0.1'), 'listening');
    expect(errorOf(await engine.transcribe([ITEM]))).toMatchObject({ code: 'worker_lost' });
    for (let attempt = 2; attempt <= 5; attempt++)
      expect(errorOf(await engine.transcribe([ITEM]))).toMatchObject({
        code: 'upstream_unavailable',
      });
    expect(posts).toBe(1);
    await new Promise(resolve => proxy.close(resolve));
    await using _back = await OpenAiUpstream.start({ port });
    await firstValueFrom(engine.away$.pipe(filter(away => !away)));
    expect(await engine.transcribe([ITEM])).toMatchObject([{ ok: true }]);
  });

  it('once the request is cancelled while it waits', async () => {
    rig.upstream.script(refused(429, { 'retry-after': '3600' }));
    const abort = new AbortController();
    const sleep = (ms: number, signal: AbortSignal) => {
      setImmediate(() => abort.abort());
      return REAL_TIMING.sleep(ms, signal);
    };
    const engine = await rig.recognizer({ maxRetryWaitMs: 600_000 }, { sleep, random: () => 0 });
    const outcomes = await engine.transcribe([
      transcribeItem(encoded('one'), { signal: abort.signal }),
    ]);
    expect(outcomes).toMatchObject([{ ok: false, error: { code: 'request_cancelled' } }]);
    expect(rig.upstream.posts).toHaveLength(1);
  });

  it('once it has spoken: what was heard cannot be taken back', async () => {
    rig.upstream.script({
      kind: 'parts',
      parts: [Buffer.alloc(4800), Buffer.alloc(4800)],
    });
    const speech = synthesizeItem('Hello there.', 'v1');
    const engine = await rig.synthesizer({ timeoutMs: 200 });
    const spoken = engine.synthesize([speech.item]);
    (await rig.upstream.post(0)).go();
    expect(errorOf(await spoken)).toMatchObject({ code: 'engine_failed' });
    expect(speech.all()).toHaveLength(2400);
    expect(rig.upstream.posts).toHaveLength(1);
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type EmbedItem } from '@switchyard/engine-api/text-embedder.js';
import { type OpenAiHttpGenerator } from '../../../src/worker/engines/openai-http/generator.js';
import {
  type GenerateItem,
  type GenerationEvent,
} from '../../../src/worker/engines/text-generator.js';
import { embedItem, generateItem } from '../../contract/engines/engine-items.js';
import { errorOf, UpstreamRig } from './upstream-rig.js';

let rig: UpstreamRig;
let abort: AbortController;

beforeEach(async () => {
  rig = await UpstreamRig.start();
  abort = new AbortController();
});
afterEach(() => rig[Symbol.asyncDispose]());

async function all(engine: OpenAiHttpGenerator, item: GenerateItem): Promise<GenerationEvent[]> {
  const events: GenerationEvent[] = [];
  for await (const event of engine.generate(item)) events.push(event);
  return events;
}

describe('openai-http: generation', () => {
  it('keeps the connection of a stream that was read to its end', async () => {
    const engine = await rig.generator({ maxConcurrent: 1 });
    for (let i = 0; i < 3; i++) await all(engine, generateItem('one two'));
    const ports = rig.upstream.posts.map(({ peerPort }) => peerPort);
    expect(new Set(ports).size).toBe(1);
  });

  it('tells usage with cached tokens and why each choice ended', async () => {
    const body = Buffer.from(
      '{"stream":true,"stream_options":{"include_usage":true},"messages":[{"content":"a b"}]}',
    );
    const events = await all(await rig.generator(), generateItem('', { body }));
    expect(events.at(-1)).toEqual({
      type: 'done',
      finishReasons: ['stop'],
      usage: { promptTokens: 3, completionTokens: 2, cachedTokens: 1 },
    });
  });

  it.each(['', '"stream_options":null,', '"stream_options":{"other":1},'])(
    'tells usage of a stream with %j to the gateway, and not to a caller that did not ask',
    async options => {
      const body = Buffer.from(`{"stream":true,${options}"messages":[{"content":"a b"}]}`);
      const events = await all(await rig.generator(), generateItem('', { body }));
      expect(events.at(-1)).toMatchObject({
        usage: { promptTokens: 3, completionTokens: 2, cachedTokens: 1 },
      });
      const chunks = events.filter(({ type }) => type === 'chunk');
      expect(chunks).toHaveLength(3);
      expect(JSON.stringify(chunks)).not.toContain('usage');
    },
  );

  it('closes the upstream call when a whole answer or a stream is cancelled, or its consumer leaves', async () => {
    const engine = await rig.generator();
    const whole = all(engine, generateItem('ENDLESS', { stream: false, signal: abort.signal }));
    const first = await rig.upstream.post(0);
    abort.abort();
    expect(await first.closed.passed).toEqual({ early: true });
    await expect(whole).rejects.toMatchObject({ code: 'request_cancelled' });

    for await (const event of engine.generate(generateItem('ENDLESS'))) {
      expect(event.type).toBe('chunk');
      break;
    }
    expect(await (await rig.upstream.post(1)).closed.passed).toEqual({ early: true });
  });

  it('waits for Retry-After, and never asks again once an answer has begun', async () => {
    rig.upstream.script(
      { kind: 'status', status: 503, headers: { 'retry-after': '2' } },
      { kind: 'parts', type: 'text/event-stream', parts: [], cut: true },
    );
    const engine = await rig.generator();
    await expect(all(engine, generateItem('x'))).rejects.toMatchObject({
      code: 'worker_lost',
    });
    expect(rig.timing.waits).toEqual([2000]);
    expect(rig.upstream.posts).toHaveLength(2);
  });

  it('stops waiting for another attempt when the request is cancelled', async () => {
    rig.upstream.script({
      kind: 'status',
      status: 503,
      headers: { 'retry-after': '20' },
    });
    const timing = {
      sleep: (_: number, signal: AbortSignal) => untilAborted(signal),
      random: () => 1,
    };
    const running = all(
      await rig.generator({}, timing),
      generateItem('x', { signal: abort.signal }),
    );
    await (
      await rig.upstream.post(0)
    ).closed.passed;
    abort.abort();
    await expect(running).rejects.toMatchObject({ code: 'request_cancelled' });
    expect(rig.upstream.posts).toHaveLength(1);
  });

  it('refuses a stream that is none', async () => {
    rig.upstream.script({ kind: 'body', type: 'application/json', body: '{}' });
    const running = all(await rig.generator(), generateItem('x'));
    await expect(running).rejects.toThrow('answered a stream with application/json');
  });

  it.each([
    ['ten megabytes of nested lists', '['.repeat(10_000_000), 'no JSON object'],
    [
      'a million fields',
      `{${Array.from({ length: 1_000_000 }, (_, at) => `"k${at}":1`).join(',')}}`,
      'no JSON object',
    ],
    ['a choice that is none', '{"choices":[null]}', 'a choice that is no object'],
  ])('refuses %s, whole and as an event', async (_title, body, message) => {
    const engine = await rig.generator();
    rig.upstream.script(
      { kind: 'body', type: 'application/json', body },
      { kind: 'body', type: 'text/event-stream', body: `data: ${body}\n\n` },
    );
    for (const stream of [false, true])
      await expect(all(engine, generateItem('x', { stream }))).rejects.toMatchObject({
        code: 'engine_failed',
        message: expect.stringContaining(message),
      });
  });

  it('has no option maxBatch: generations form no groups', async () => {
    await expect(rig.generator({ maxBatch: 2 })).rejects.toThrow('options.maxBatch is unknown');
  });
});

describe('openai-http: embeddings', () => {
  it.each([
    [
      'fewer vectors than inputs',
      '{"data":[{"index":0,"embedding":[1,2]}]}',
      'sent 1 vectors for 2 inputs',
    ],
    [
      'vectors of unlike length',
      '{"data":[{"embedding":[1]},{"index":1,"embedding":[1,2]}]}',
      'unlike length',
    ],
    [
      'no numbers',
      '{"data":[{"embedding":[1]},{"index":1,"embedding":{}}]}',
      'neither numbers nor base64',
    ],
    ['no list', '{}', 'without `data`'],
    ['no vector', '{"data":[null,{"embedding":[1]}]}', 'neither numbers nor base64'],
    ['no JSON', '<html>', 'no JSON'],
    ['nothing', 'null', 'without `data`'],
  ])('refuse %s', async (_title, body, message) => {
    rig.upstream.script({ kind: 'body', type: 'application/json', body });
    const engine = await rig.embedder();
    expect(errorOf(await engine.embed([embedItem(['a', 'b'])])).message).toContain(message);
  });

  it('close the upstream call when they are cancelled', async () => {
    const engine = await rig.embedder();
    const running = engine.embed([embedItem('ENDLESS', { signal: abort.signal })]);
    const call = await rig.upstream.post(0);
    abort.abort();
    expect(await call.closed.passed).toEqual({ early: true });
    expect(errorOf(await running)).toMatchObject({ code: 'request_cancelled' });
  });
});

describe('openai-http: reranking', () => {
  const ranking = (fields: object = {}): EmbedItem => {
    const body = {
      model: 'ours',
      query: 'q',
      documents: ['a', { text: 'longer' }],
      top_n: 1,
      ...fields,
    };
    return embedItem('', {
      form: 'rerank',
      body: Buffer.from(JSON.stringify(body)),
      inputs: 2,
    });
  };

  it('takes the score of every document, in their order, and passes on the rest of the body', async () => {
    const engine = await rig.embedder();
    const [outcome] = await engine.embed([ranking({ newer: 9_007_199_254_740_993n.toString() })]);
    if (!outcome?.ok) throw new Error('failed', { cause: outcome });
    const { vectors, dimensions, usage } = outcome.value;
    expect([[...vectors], dimensions, usage?.promptTokens]).toEqual([
      [0.5, Math.fround(6 / 7)],
      1,
      7,
    ]);
    const call = await rig.upstream.post(0);
    expect([call.path, call.json()]).toEqual([
      '/v1/rerank',
      expect.objectContaining({
        model: 'm',
        top_n: 2,
        return_documents: false,
        newer: '9007199254740993',
      }),
    ]);
  });

  it.each([
    [
      'a score that is missing',
      '{"results":[{"index":0,"relevance_score":1}]}',
      'no score for some of 2',
    ],
    ['no scores', '{"results":[null,null]}', 'no score for some of 2'],
    ['no list', '{}', 'without `results`'],
  ])('refuses %s', async (_title, body, message) => {
    rig.upstream.script({ kind: 'body', type: 'application/json', body });
    const engine = await rig.embedder();
    expect(errorOf(await engine.embed([ranking()])).message).toContain(message);
  });
});

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error)),
  );

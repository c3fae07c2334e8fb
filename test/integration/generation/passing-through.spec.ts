import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenAiUpstream } from '../../support/openai-upstream.js';
import { errorOf, GatewayRig } from '../api/gateway-rig.js';
import { chat, eventsOf, upstreamLlm } from './generation-rig.js';

let upstream: OpenAiUpstream;
let rig: GatewayRig;
const ID = 'upstream-llm';
const SSE = 'text/event-stream; charset=utf-8';

beforeAll(async () => {
  upstream = await OpenAiUpstream.start({ models: ['its/own-name'] });
  const own = upstreamLlm(upstream);
  const queued = { ...own, options: { ...own.options, scheduler: 'llm-d' } };
  rig = await GatewayRig.start({
    models: [upstreamLlm(upstream), { ...queued, id: 'llm-d', aliases: [] }],
    launch: 'hosted',
  });
  await rig.ready(ID);
  await rig.ready('llm-d');
}, 60_000);
afterAll(async () => {
  await rig.close();
  await upstream[Symbol.asyncDispose]();
});

/** The next POST that the upstream gets is that of the request made now. */
const nextPost = () => upstream.post(upstream.posts.length);
const ask = (content: string, fields: object = {}, init: RequestInit = {}) =>
  rig.post('/v1/chat/completions', chat(content, { model: ID, ...fields }), init);
const chunk = (fields: string) => `{"id":"x","object":"chat.completion.chunk",${fields}}`;
const said = (word: string) =>
  chunk(`"choices":[{"index":0,"delta":{"content":"${word}"},"finish_reason":null}]`);
const STOP = chunk('"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]');
const events = (...data: string[]) => data.map(one => `data: ${one}\n\n`).join('');

describe('a body on its way to an upstream', () => {
  it('changes in `model` only: digits, unknown fields, order and spaces stay', async () => {
    const body =
      `{ "seed": 12345678901234567890, "model" : "gpt-4o-mini",\n ` +
      `"messages":[{"role":"user","content":"h\\u00e9 model"}],
      "guided_json": {"model": 1.0e0}, "tools": [{"type":"function","function":{"name":"f"}}] }`;
    const post = nextPost();
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${rig.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body,
    });
    expect(response.status).toBe(200);
    expect((await post).body.toString()).toBe(body.replace('"gpt-4o-mini"', '"its/own-name"'));
  });
});

describe("a caller's own `priority`", () => {
  it.each([0, -5, 'high', [1]])(
    'of %j reaches no server: it is left out, and reported',
    async priority => {
      const post = nextPost();
      const response = await ask('x', { priority, seed: 12345 });
      expect(response.headers.get('x-switchyard-ignored')).toBe('priority');
      expect(await response.json()).toMatchObject({ service_tier: 'default' });
      const { model: _, ...sent } = (await post).json();
      expect(sent).toEqual({ messages: [{ role: 'user', content: 'x' }], seed: 12345 });
    },
  );

  it('is left out each time that a body has it, and other numbers keep their digits', async () => {
    const body = `{"priority":-1,"seed":12345678901234567890,"model":"${ID}","pr\u0069ority":-2,"messages":[{"role":"user","content":"x"}]}`;
    const post = nextPost();
    const headers = { 'content-type': 'application/json' };
    await (await fetch(`${rig.url}/v1/chat/completions`, { method: 'POST', headers, body })).text();
    const sent = (await post).body.toString();
    expect(sent).toContain('"seed":12345678901234567890');
    expect(sent).not.toMatch(/pr\u0069ority|priority/);
  });

  it("is this gateway's class where it names one; the header wins", async () => {
    const class1 = await ask('x', { priority: 'realtime' });
    expect(class1.headers.get('x-switchyard-ignored')).toBeNull();
    expect(await class1.json()).toMatchObject({ service_tier: 'priority' });
    const class2 = await ask('x', { priority: 'realtime' }, { headers: { 'x-priority': 'batch' } });
    expect(await class2.json()).toMatchObject({ service_tier: 'default' });
    expect(upstream.posts.at(-1)!.json()).not.toHaveProperty('priority');
  });

  it.each([
    ['/v1/messages', { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }],
    ['/v1/responses', { input: 'x', store: false }],
  ])('is reported by %s as well', async (path, fields) => {
    const response = await rig.post(path, { model: ID, priority: 3, ...fields });
    expect(response.headers.get('x-switchyard-ignored')).toBe('priority');
    await response.text();
    expect(upstream.posts.at(-1)!.json()).not.toHaveProperty('priority');
  });
});

describe('the deadline of a first output', () => {
  it('goes on to a server that orders by it, less the time that the request waited', async () => {
    const post = nextPost();
    const response = await rig.post(
      '/v1/chat/completions',
      chat('x', { model: 'llm-d', stream: true }),
      { headers: { 'x-slo-ttft-ms': '30000' } },
    );
    await response.text();
    const left = Number((await post).headers['x-slo-ttft-ms']);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(30_000);
  });
});

describe('an answer on its way from an upstream', () => {
  it('passes chunk by chunk; `model` and `service_tier` are said by the gateway', async () => {
    const call = chunk(
      '"choices":[{"index":0,"delta":{"tool_calls":[' +
        '{"index":0,"id":"c","function":{"name":"f","arguments":"{\\"n\\":"}}]}}],"model":"own","x":1e400',
    );
    upstream.script({
      kind: 'parts',
      type: 'text/event-stream',
      parts: [events(call), events(STOP, '[DONE]')],
    });
    const post = nextPost();
    const tools = [{ type: 'function', function: { name: 'f' } }];
    const answering = ask('call f', { stream: true, tools, service_tier: 'flex' });
    (await post).go();
    const response = await answering;
    (await post).go();
    expect(response.headers.get('content-type')).toBe(SSE);
    expect(Number(response.headers.get('x-switchyard-ttft-ms'))).toBeGreaterThan(0);
    expect(response.headers.get('server-timing')).toContain('ttft;dur=');
    const tier = '"service_tier":"flex"';
    expect(await eventsOf(response)).toEqual([
      call.replace('"own"', `"${ID}"`).replace('1e400}', `1e400,${tier}}`),
      STOP.replace(/}$/, `,"model":"${ID}",${tier}}`),
      '[DONE]',
    ]);
  });

  it('needs no [DONE], takes CRLF, comments and an upstream that adds spaces', async () => {
    const body = `: ping\r\n\r\n${events(said('one'), STOP).replaceAll('\n', '\r\n')}`;
    upstream.script({ kind: 'body', type: SSE, body });
    const got = await eventsOf(await ask('x', { stream: true }));
    expect(got).toHaveLength(3);
    expect(got[2]).toBe('[DONE]');
  });

  it.each([
    [
      'is cut off',
      { parts: [events(said('one'))], cut: true as const },
      'ended the connection before',
    ],
    ['ends before it says why', { parts: [events(said('one'))] }, 'before the answer was complete'],
    [
      'tells an error',
      { parts: [events(said('one')), events('{"error":{"message":"out of memory"}}')] },
      'out of memory',
    ],
    ['is no JSON', { parts: [events(said('one')), events('<html>')] }, 'no JSON object'],
  ])(
    'that %s ends in the envelope, after what came before; it is not asked again',
    async (_title, step, message) => {
      upstream.script({ kind: 'parts', type: 'text/event-stream', ...step });
      const before = upstream.posts.length;
      const answering = ask('x', { stream: true });
      const post = await upstream.post(before);
      for (let part = 0; part < step.parts.length; part++) {
        post.go();
        if (part === 0) await answering;
        await new Promise(setImmediate);
      }
      const got = await eventsOf(await answering);
      expect(got).toHaveLength(2);
      expect(JSON.parse(got[1]!)).toMatchObject({
        error: { code: 'engine_failed', message: expect.stringContaining(message) },
      });
      expect(upstream.posts).toHaveLength(before + 1);
    },
  );

  it('is asked for again before its first byte: 429 with Retry-After, 503, then the answer', async () => {
    const headers = { 'retry-after-ms': '1' };
    upstream.script({ kind: 'status', status: 429, headers }, { kind: 'status', status: 503 });
    const before = upstream.posts.length;
    expect((await eventsOf(await ask('one two', { stream: true }))).at(-1)).toBe('[DONE]');
    expect(upstream.posts).toHaveLength(before + 3);
  });

  it.each([
    [400, 'context too long', 400, 'invalid_value'],
    [401, '', 500, 'engine_failed'],
    [429, 'slow down', 429, 'queue_full'],
    [500, 'kaputt', 500, 'engine_failed'],
  ])('of %i becomes a normal error, also of a stream', async (status, message, expected, code) => {
    const step = {
      kind: 'status',
      status,
      body: JSON.stringify({ error: { message } }),
    } as const;
    upstream.script(step, step, step);
    const error = await errorOf(ask('x', { stream: true }));
    expect(error).toMatchObject({ status: expected, code });
    expect(error.message).toContain(message);
    // What a failure for good left of the script.
    while (upstream.takeScripted());
  });
});

describe('a reader', () => {
  it('who does not read holds the upstream back, and gets everything in the end', async () => {
    const CHUNKS = 40_000;
    const post = nextPost();
    const response = await ask(`FLOOD:${CHUNKS}`, { stream: true });
    const call = await post;
    let sent = -1;
    // Until nothing moves any more.
    while (sent !== call.sent) {
      sent = call.sent;
      await new Promise(resolve => setTimeout(resolve, 250));
    }
    expect(sent).toBeLessThan(CHUNKS * 600);
    let bytes = 0;
    let dones = 0;
    for await (const piece of response.body!) {
      bytes += piece.length;
      if (Buffer.from(piece).includes('[DONE]')) dones += 1;
    }
    expect(bytes).toBeGreaterThan(CHUNKS * 1024);
    expect(dones).toBe(1);
  }, 60_000);
});

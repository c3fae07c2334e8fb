/* eslint-disable @typescript-eslint/no-unsafe-return -- answers of four dialects, told apart by their tables */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addApiKey } from '../../../src/platform/auth/keys-file.js';
import { GatewayRig, until } from '../../integration/api/gateway-rig.js';
import { bearer, KeysFolder } from '../../integration/auth/keys-folder.js';
import { syntheticLlm } from '../../integration/generation/generation-rig.js';

type Json = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any

interface Dialect {
  readonly path: string;
  readonly body: Json;
  /** Advice that this model cannot follow. */
  readonly advice: Json;
  /** Of a whole answer. */
  text(answer: Json): string;
  tokens(answer: Json): number;
  /** Of the events of a stream, `[DONE]` left out. */
  deltas(events: readonly Json[]): string;
  told(events: readonly Json[]): number;
  message(error: Json): string;
}

const question = [{ role: 'user', content: 'what does a switchyard do?' }];
const openAi = { message: (body: Json) => String(body.error.message) };

/** One conversation inside, four dialects at the edge. */
const DIALECTS: Readonly<Record<string, Dialect>> = {
  chat: {
    path: '/v1/chat/completions',
    body: { messages: question, stream_options: undefined },
    advice: { verbosity: 'low' },
    text: answer => answer.choices[0].message.content,
    tokens: ({ usage }) => usage.completion_tokens,
    deltas: events => events.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
    told: events => events.at(-1)!.usage.completion_tokens,
    ...openAi,
  },
  responses: {
    path: '/v1/responses',
    body: { input: question, store: false },
    advice: { prompt_cache_key: 'k' },
    text: ({ output }) => output[0].content[0].text,
    tokens: ({ usage }) => usage.output_tokens,
    deltas: events =>
      events
        .map(({ type, delta = '' }) => (String(type).endsWith('text.delta') ? delta : ''))
        .join(''),
    told: events => events.at(-1)!.response.usage.output_tokens,
    ...openAi,
  },
  messages: {
    path: '/v1/messages',
    body: { messages: question, max_tokens: 5000 },
    advice: { service_tier: 'auto' },
    text: ({ content }) => content[0].text,
    tokens: ({ usage }) => usage.output_tokens,
    deltas: events => events.map(({ delta }) => delta?.text ?? '').join(''),
    told: events => events.find(({ type }) => type === 'message_delta')!.usage.output_tokens,
    message: body => (body.type === 'error' ? String(body.error.message) : ''),
  },
  ollama: {
    path: '/api/chat',
    body: { messages: question, stream: false },
    advice: { keep_alive: '5m' },
    text: ({ message }) => message.content,
    tokens: answer => answer.eval_count,
    deltas: events => events.map(({ message }) => message?.content ?? '').join(''),
    told: events => events.at(-1)!.eval_count,
    message: ({ error }) => String(error),
  },
};

let folder: KeysFolder;
let rig: GatewayRig;
const keys = { acme: '', ops: '', limited: '' };

beforeAll(async () => {
  folder = new KeysFolder();
  keys.acme = folder.add('acme', 'inference');
  keys.ops = folder.add('ops', 'admin', 'inference');
  const limits = { requests_per_minute: 1 };
  keys.limited = addApiKey(folder.file, { tenant: 'limited', scopes: ['inference'], limits }).key;
  const slow = { tokens: 4000, perTokenMs: 5, maxBatch: 1, maxConcurrent: 1 };
  rig = await GatewayRig.start({
    models: [syntheticLlm({ tokens: 12 }, { id: 'quick' }), syntheticLlm(slow, { id: 'slow' })],
    settings: { 'auth.keys_file': folder.file, 'server.json_limit_bytes': 100_000 },
    launch: 'hosted',
  });
}, 60_000);
afterAll(() => rig.close());

const get = (path: string) => fetch(rig.url + path, { headers: bearer(keys.acme) });

let requests = 0;
const newId = () => `contract-${++requests}`;

describe.each(Object.entries(DIALECTS))('%s', (_, dialect) => {
  const send = (
    fields: Json,
    {
      key = keys.acme,
      signal,
      ...headers
    }: { key?: string; signal?: AbortSignal } & Record<string, unknown> = {},
  ): Promise<Response> =>
    rig.post(
      dialect.path,
      { model: 'quick', ...dialect.body, ...fields },
      {
        headers: { ...(key && bearer(key)), ...(headers as Record<string, string>) },
        ...(signal && { signal }),
      },
    );
  const streamed = {
    stream: true,
    ...('stream_options' in dialect.body && { stream_options: { include_usage: true } }),
  };
  const eventsIn = (text: string): Json[] =>
    text
      .split('\n')
      .map(line => line.replace(/^(data|event): /, match => (match === 'data: ' ? '' : '#')))
      .filter(line => line.startsWith('{'))
      .map(line => JSON.parse(line) as Json);
  const refused = async (answer: Promise<Response>, status: number, message: RegExp) => {
    const response = await answer;
    const told = dialect.message((await response.json()) as Json);
    expect([response.status, told]).toEqual([status, expect.stringMatching(message)]);
  };
  const about = async (id: string): Promise<Json> =>
    (await (await get(`/v1/requests/${id}`)).json()) as Json;
  const inState = (id: string, state: string) =>
    until(async () => (await about(id)).state === state);
  const cancel = (id: string) =>
    fetch(`${rig.url}/v1/requests/${id}/cancel`, { method: 'POST', headers: bearer(keys.acme) });
  /** A request that runs until it is cancelled. */
  const running = async () => {
    const id = newId();
    const answer = send({ model: 'slow' }, { 'x-request-id': id });
    await inState(id, 'running');
    return { answer, end: () => cancel(id).then(() => answer) };
  };

  it('answers whole, and counts its tokens', async () => {
    const answer = (await (await send({})).json()) as Json;
    expect(dialect.text(answer).length).toBeGreaterThan(10);
    expect(dialect.tokens(answer)).toBe(12);
  });

  it('streams the text of the whole answer', async () => {
    const whole = (await (await send({})).json()) as Json;
    const events = eventsIn(await (await send(streamed)).text());
    expect(dialect.deltas(events)).toBe(dialect.text(whole));
  });

  it('ends a stream with its tokens', async () => {
    const events = eventsIn(await (await send(streamed)).text());
    expect(dialect.told(events)).toBe(12);
  });

  it('keeps the id of the caller, and says where the time went', async () => {
    const id = newId();
    const { headers } = await send({}, { 'x-request-id': id });
    expect(headers.get('x-request-id')).toBe(id);
    expect(headers.get('server-timing')).toMatch(/queue;dur=.*device;dur=/);
    expect(headers.get('x-switchyard-completion-tokens')).toBe('12');
    expect(await about(id)).toMatchObject({ state: 'completed', model: 'quick' });
  });

  it('is BATCH, and REALTIME where a header says so', async () => {
    const [one, two] = [newId(), newId()];
    await send({}, { 'x-request-id': one });
    await send({}, { 'x-request-id': two, 'x-priority': 'realtime' });
    expect((await about(one)).priority).toBe('batch');
    expect((await about(two)).priority).toBe('realtime');
  });

  it('refuses a priority that there is not', () =>
    refused(send({}, { 'x-priority': 'now' }), 400, /X-Priority/i));

  it('waits in the queue, is explained, and is cancelled there', async () => {
    const busy = await running();
    const id = newId();
    const waiting = send({ model: 'slow' }, { 'x-request-id': id });
    await inState(id, 'queued');
    const explained = await get(`/v1/requests/${id}/explain`);
    expect(await explained.json()).toMatchObject({ request_id: id, state: 'queued' });
    await cancel(id);
    await refused(waiting, 499, /cancel/i);
    await refused(busy.end(), 499, /cancel/i);
  });

  it('REALTIME overtakes BATCH that waits', async () => {
    const busy = await running();
    const ids = [newId(), newId()] as const;
    const batch = send({ model: 'slow' }, { 'x-request-id': ids[0] });
    await inState(ids[0], 'queued');
    const realtime = send({ model: 'slow' }, { 'x-request-id': ids[1], 'x-priority': 'realtime' });
    await inState(ids[1], 'queued');
    await busy.end();
    await inState(ids[1], 'running');
    expect((await about(ids[0])).state).toBe('queued');
    for (const id of ids) await cancel(id);
    expect((await batch).status).toBe(499);
    expect((await realtime).status).toBe(499);
  });

  it('tells a stream that is cancelled so', async () => {
    const id = newId();
    const answer = await send({ ...streamed, model: 'slow' }, { 'x-request-id': id });
    const text = answer.text();
    await cancel(id);
    expect((await text).toLowerCase()).toMatch(/cancel/);
  });

  it('frees its place when the caller leaves', async () => {
    const leaving = new AbortController();
    const answer = await send({ ...streamed, model: 'slow' }, { signal: leaving.signal });
    expect(answer.status).toBe(200);
    leaving.abort();
    await until(() => rig.pool.workers().every(({ slots }) => slots.inUse === 0));
  });

  it('ends at its deadline', async () => {
    const busy = await running();
    const answer = send({ model: 'slow' }, { 'x-deadline-ms': '300' });
    await refused(answer, 504, /wanted within 300 ms/);
    await busy.end();
  });

  it('needs a key', () => refused(send({}, { key: '' }), 401, /key/i));

  it('has the limits of its key, and says when to try again', async () => {
    const statuses = [await send({}, { key: keys.limited }), await send({}, { key: keys.limited })];
    const last = statuses.find(({ status }) => status === 429)!;
    expect(last.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(dialect.message((await last.json()) as Json)).toMatch(/minute|limit/i);
  });

  it('counts for its tenant', async () => {
    const used = async () => {
      const answer = await fetch(`${rig.url}/admin/v1/tenants`, { headers: bearer(keys.ops) });
      const { data } = (await answer.json()) as { data: Json[] };
      return data.find(({ id }) => id === 'acme')!.usage_today.requests as number;
    };
    const before = await used();
    await send({});
    await until(async () => (await used()) > before);
  });

  it('reports advice that it cannot follow', async () => {
    const { status, headers } = await send(dialect.advice);
    const [name] = Object.keys(dialect.advice);
    expect([status, headers.get('x-switchyard-ignored')]).toEqual([200, name]);
  });

  it('refuses a model that there is not', () => refused(send({ model: 'none' }), 404, /none/));

  it('refuses what is no JSON, before anything else', async () => {
    const answer = fetch(rig.url + dialect.path, {
      method: 'POST',
      headers: { ...bearer(keys.acme), 'content-type': 'application/json' },
      body: '{"model":',
    });
    await refused(answer, 400, /JSON/);
  });

  it('refuses a body that is too large', () =>
    refused(send({ filler: 'x'.repeat(120_000) }), 413, /larger/));

  it('answers a repeated key as before', async () => {
    const key = { 'idempotency-key': newId() };
    const first = (await (await send({}, key)).json()) as Json;
    const again = await send({}, key);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(dialect.text((await again.json()) as Json)).toBe(dialect.text(first));
  });

  it('is answered later where that is preferred', async () => {
    const id = newId();
    const accepted = await send({}, { prefer: 'respond-async', 'x-request-id': id });
    expect(accepted.status).toBe(202);
    const content = () => get(`/v1/requests/${id}/content`);
    await until(async () => {
      const answer = await content();
      return answer.status === 200 && answer.headers.get('retry-after') === null;
    });
    const told = (await (await content()).json()) as Json;
    expect(dialect.tokens(told)).toBe(12);
  });
});

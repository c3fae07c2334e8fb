import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { WebSocket } from 'ws';
import {
  type ResponseEvent,
  type ResponseObject,
} from '../../../src/contracts/openai/responses.js';
import { faultsOfEvents } from '../../support/response-schema.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { syntheticLlm } from '../generation/generation-rig.js';

type Told = Record<string, unknown> & { readonly type: string };

let folder: KeysFolder;
let key: string;
let eventsKey: string;
let rig: GatewayRig;
beforeAll(async () => {
  folder = new KeysFolder();
  key = folder.add('acme', 'inference');
  eventsKey = folder.add('acme', 'events');
  rig = await GatewayRig.start({
    models: [
      syntheticLlm({ tokens: 4 }),
      syntheticLlm({ tokens: 200, perTokenMs: 20 }, { id: 'slow' }),
      syntheticLlm({ tokens: 4 }, { id: 'synthetic-tools', capabilities: ['chat', 'tools'] }),
    ],
    launch: 'hosted',
    settings: { 'auth.keys_file': folder.file },
  });
  await until(() => rig.pool.workers().every(({ state }) => state === 'ready'));
});
afterAll(() => rig.close());

/** One connection, and what came over it. */
class Connection {
  readonly told: Told[] = [];
  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.told.push(JSON.parse(data.toString()) as Told));
  }

  static async open(
    url = rig.url,
    headers: Record<string, string> = bearer(key),
  ): Promise<Connection> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
      headers,
    });
    const connection = new Connection(socket);
    await once(socket, 'open');
    return connection;
  }

  send(fields: object): void {
    const message = { type: 'response.create', model: 'synthetic-llm', ...fields };
    this.socket.send(JSON.stringify(message));
  }

  /** What has come when the given number of responses have ended, errors included. */
  async ended(count = 1): Promise<Told[]> {
    const isEnd = ({ type }: Told) => /^(error|response\.(completed|incomplete))$/.test(type);
    await until(() => this.told.filter(isEnd).length >= count);
    return this.told;
  }

  async answer(fields: object): Promise<ResponseObject> {
    this.told.length = 0;
    this.send(fields);
    const events = (await this.ended()) as unknown as ResponseEvent[];
    expect(faultsOfEvents(events)).toEqual([]);
    return (events.at(-1) as { response: ResponseObject }).response;
  }

  async error(fields: object): Promise<Told> {
    this.told.length = 0;
    this.send(fields);
    return (await this.ended()).at(-1)!;
  }
}

describe('/v1/responses as a WebSocket', () => {
  it('answers with the events of the HTTP stream', async () => {
    const connection = await Connection.open();
    const response = await connection.answer({ input: 'Where do trains go?' });
    expect(response.status).toBe('completed');
    expect(connection.told[0]!.type).toBe('response.created');
    const stored = await fetch(`${rig.url}/v1/responses/${response.id}`, {
      headers: bearer(key),
    });
    expect(stored.status).toBe(200);
    connection.socket.close();
  });

  it('continues what its last response said, stored or not', async () => {
    const connection = await Connection.open();
    const first = await connection.answer({ input: 'one two three', store: false });
    const more = { previous_response_id: first.id, input: 'four', store: false };
    const second = await connection.answer(more);
    expect(second.previous_response_id).toBe(first.id);
    const third = await connection.answer({
      previous_response_id: second.id,
      input: 'five',
      store: false,
    });
    expect(third.previous_response_id).toBe(second.id);

    const other = await Connection.open();
    expect(await other.error({ previous_response_id: third.id, input: 'six' })).toMatchObject({
      status: 404,
      error: { code: 'previous_response_not_found' },
    });
    connection.socket.close();
    other.socket.close();
  });

  it('forgets what a message that failed continued', async () => {
    const connection = await Connection.open();
    const { id } = await connection.answer({ input: 'one', store: false });
    const more = { previous_response_id: id, store: false };
    const orphan = { type: 'function_call_output', call_id: 'call_none', output: 'x' };
    const failed = await connection.error({ ...more, input: [orphan] });
    expect(failed).toMatchObject({ status: 400, error: { param: 'input' } });
    const again = await connection.error({ ...more, input: 'two' });
    expect(again).toMatchObject({ error: { code: 'previous_response_not_found' } });
    connection.socket.close();
  });

  it('begins anew from a conversation that was compacted', async () => {
    const messages = [{ role: 'user', content: 'all lines are clear' }];
    const body = { model: 'synthetic-llm', input: messages, prompt_cache_key: 'k' };
    const init = { headers: bearer(key) };
    const compacted = await rig.post('/v1/responses/compact', body, init);
    const { output } = (await compacted.json()) as { output: object[] };
    const connection = await Connection.open();
    const phase = { role: 'assistant', phase: 'final_answer', content: 'Yes.' };
    const input = [...output, phase, { role: 'user', content: 'go on' }];
    expect((await connection.answer({ input })).status).toBe('completed');
    connection.socket.close();
    const nameless = await rig.post('/v1/responses/compact', { input: messages }, init);
    expect(nameless.status).toBe(400);
  });

  it('speaks with the official SDK', async () => {
    const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: key });
    const socket = new ResponsesWS(client);
    const ended = new Promise<string>(resolve =>
      socket.on('response.completed', ({ response }) => resolve(response.status ?? '')),
    );
    socket.send({ type: 'response.create', model: 'synthetic-llm', input: 'x' });
    expect(await ended).toBe('completed');
    socket.close();
  });

  it('answers one message after another', async () => {
    const connection = await Connection.open();
    for (const input of ['first', 'second', 'third']) connection.send({ input });
    const types = (await connection.ended(3)).map(({ type }) => type);
    const starts = types.flatMap((type, at) => (type === 'response.created' ? [at] : []));
    expect(starts).toHaveLength(3);
    for (const at of starts.slice(1)) expect(types[at - 1]).toBe('response.completed');
    connection.socket.close();
  });

  it('tells what is wrong with a message, and goes on', async () => {
    const connection = await Connection.open();
    expect(await connection.error({ model: 'nobody', input: 'x' })).toMatchObject({
      status: 404,
      error: { code: 'model_not_found' },
    });
    expect(await connection.error({ input: 'x', temperature: 3 })).toMatchObject({
      status: 400,
      error: { param: 'temperature' },
    });
    expect(await connection.error({ type: 'response.cancel' })).toMatchObject({
      status: 400,
      error: { param: 'type' },
    });
    connection.told.length = 0;
    connection.socket.send('{"type":');
    expect((await connection.ended()).at(-1)).toMatchObject({
      status: 400,
      error: { code: 'invalid_json' },
    });
    expect((await connection.answer({ input: 'x' })).status).toBe('completed');
    connection.socket.close();
  });

  it('prepares a turn with `generate: false`, which the next message continues', async () => {
    const connection = await Connection.open();
    const prepared = await connection.answer({
      ...{ input: 'first', generate: false, store: false },
    });
    expect(prepared).toMatchObject({ status: 'completed', output: [], usage: null });
    const { id: previous_response_id } = prepared;
    const next = await connection.answer({ input: 'second', previous_response_id });
    expect(next).toMatchObject({ status: 'completed', previous_response_id });
    expect(next.output).toHaveLength(1);
    connection.socket.close();
  });

  it('bounds the messages that wait', async () => {
    const connection = await Connection.open();
    for (let sent = 0; sent < 17; sent += 1) connection.send({ model: 'slow', input: 'x' });
    const refused = (await connection.ended()).filter(({ type }) => type === 'error');
    expect(refused).toMatchObject([{ error: { code: 'queue_full' } }]);
    connection.socket.close();
    await until(() => rig.pool.workers().every(({ state }) => state === 'ready'));
  });

  it('refuses what exceeds the bounds of a body before it is parsed', async () => {
    const connection = await Connection.open();
    const fields = Array.from({ length: 620_000 }, (_, at) => `"k${at}":0`).join(',');
    const refusal = { status: 400, error: { code: 'invalid_json' } };
    for (const text of [`{${fields},"type":"response.create"}`, '['.repeat(8_000_000)]) {
      connection.told.length = 0;
      const before = process.cpuUsage();
      connection.socket.send(text);
      expect((await connection.ended()).at(-1)).toMatchObject(refusal);
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000).toBeLessThan(1000);
    }
    connection.socket.close();
  });

  it('reads names and types that are written with escapes', async () => {
    const connection = await Connection.open();
    const model = '"model":"synthetic-llm","input":"x"';
    connection.socket.send(`{"\\u0074ype":"response\\u002ecreate",${model}}`);
    expect((await connection.ended()).at(-1)!.type).toBe('response.completed');
    connection.socket.close();
  });

  it('keeps the digits of numbers', async () => {
    const connection = await Connection.open();
    const schema = '{"type":"object","properties":{"id":{"const":9007199254740993}}}';
    const tool = `{"type":"function","name":"f","parameters":${schema}}`;
    let raw = '';
    connection.socket.on('message', (data: Buffer) => (raw = data.toString()));
    const head = '"type":"response.create","model":"synthetic-tools","temperature":1.0';
    connection.socket.send(`{${head},"input":"x","tools":[${tool}]}`);
    expect((await connection.ended()).at(-1)!.type).toBe('response.completed');
    expect(raw).toContain('"const":9007199254740993');
    connection.told.length = 0;
    connection.socket.send(`{${head.replace('1.0', '1e400')},"input":"x"}`);
    expect((await connection.ended()).at(-1)).toMatchObject({ error: { param: 'temperature' } });
    connection.socket.close();
  });

  it('is not read on while a message is answered', async () => {
    const connection = await Connection.open();
    const { socket } = connection;
    connection.send({ model: 'slow', input: 'x' });
    await until(() => connection.told.length > 3);
    const large = JSON.stringify({ type: 'response.create', filler: 'x'.repeat(7_000_000) });
    for (let sent = 0; sent < 6; sent += 1) socket.send(large);
    // Beyond what the system's buffers of a local connection hold.
    await connection.ended();
    expect(socket.bufferedAmount).toBeGreaterThan(large.length);
    expect(connection.told.filter(({ type }) => type === 'error')).toEqual([]);
    socket.terminate();
    await until(() => rig.pool.workers().every(({ state }) => state === 'ready'));
  });

  it('cancels what is generated for a client that leaves', async () => {
    const connection = await Connection.open();
    connection.send({ model: 'slow', input: 'x' });
    await until(() => connection.told.length > 3);
    connection.socket.terminate();
    await until(() => rig.pool.workers().every(({ state }) => state === 'ready'));
  });

  it('resumes the events of a background response', async () => {
    const connection = await Connection.open();
    connection.send({ input: 'x', background: true });
    const events = (await connection.ended()) as unknown as ResponseEvent[];
    const { id } = (events[0] as { response: ResponseObject }).response;
    connection.socket.terminate();

    const again = await Connection.open();
    again.send({ type: 'response.resume', response_id: id, starting_after: 2 });
    await again.ended();
    expect(again.told).toEqual(events.slice(3));
    expect(await again.error({ type: 'response.resume', response_id: 'resp_none' })).toMatchObject({
      status: 404,
      error: { code: 'response_not_found' },
    });
    const beyond = { type: 'response.resume', response_id: id, starting_after: events.length };
    expect(await again.error(beyond)).toMatchObject({
      status: 400,
      error: { code: 'invalid_value', param: 'starting_after' },
    });
    again.socket.close();
  });

  it('opens with a key that may use models, and with no other', async () => {
    const refused = async (headers: Record<string, string>) => {
      const socket = new WebSocket(`${rig.url.replace('http', 'ws')}/v1/responses`, {
        headers,
      });
      socket.on('error', () => undefined);
      const [, { statusCode }] = (await once(socket, 'unexpected-response')) as [
        unknown,
        { statusCode: number },
      ];
      socket.terminate();
      return statusCode;
    };
    const protocols = ['responses', `openai-insecure-api-key.${key}`];
    const browser = new WebSocket(rig.url.replace('http', 'ws') + '/v1/responses', protocols);
    await once(browser, 'open');
    expect(browser.protocol).toBe('responses');
    browser.close();
    expect(await refused({})).toBe(401);
    expect(await refused(bearer(eventsKey))).toBe(403);
  });
});

describe('limits and the end', () => {
  it('count each message', async () => {
    const limited = await GatewayRig.start({
      models: [syntheticLlm({ tokens: 4 })],
      launch: 'hosted',
      settings: { 'limits.requests_per_minute': 1, 'auth.keys_file': folder.file },
    });
    const connection = await Connection.open(limited.url);
    expect((await connection.answer({ input: 'x' })).status).toBe('completed');
    expect(await connection.error({ input: 'x' })).toMatchObject({
      status: 429,
      error: { code: 'rate_limit_exceeded' },
    });
    connection.socket.close();
    await limited.close();
  });

  it('end the idlest connection of the tenant with the most for another tenant, and none that answers', async () => {
    const other = folder.add('other', 'inference');
    const small = await GatewayRig.start({
      models: [syntheticLlm({ tokens: 200, perTokenMs: 20 }, { id: 'slow' })],
      launch: 'hosted',
      settings: {
        'auth.keys_file': folder.file,
        'realtime.max_sessions': 3,
        'realtime.quiet_ms': 0,
      },
    });
    const busy = await Connection.open(small.url);
    const idlest = await Connection.open(small.url);
    const idle = await Connection.open(small.url);
    busy.send({ model: 'slow', input: 'x' });
    await until(() => busy.told.length > 0);
    await expect(Connection.open(small.url)).rejects.toThrow('429');
    const ended = once(idlest.socket, 'close') as Promise<[number]>;
    const theirs = await Connection.open(small.url, bearer(other));
    expect((await ended)[0]).toBe(1013);
    await expect(Connection.open(small.url, bearer(other))).rejects.toThrow('429');
    for (const { socket } of [busy, idle, theirs]) {
      expect(socket.readyState).toBe(WebSocket.OPEN);
      socket.close();
    }
    await small.close();
  });

  it('hold a tenant to its places for bodies: beyond them nothing is read, and its slowest message ends for another tenant', async () => {
    const third = folder.add('third', 'inference');
    const small = await GatewayRig.start({
      models: [syntheticLlm({ tokens: 4 })],
      launch: 'hosted',
      settings: { 'auth.keys_file': folder.file, 'server.max_receiving': 2 },
    });
    const half = `{"type":"response.create","model":"synthetic-llm","filler":"${'x'.repeat(1_000_000)}`;
    const slow = [await Connection.open(small.url), await Connection.open(small.url)];
    for (const { socket } of slow) socket.send(half, { fin: false });
    const body = { model: 'synthetic-llm', input: 'x'.repeat(100_000) };
    await until(async () => {
      const answer = await small.post('/v1/responses', body, { headers: bearer(key) });
      return answer.status === 429;
    });
    const beyond = await Connection.open(small.url);
    const whole = `${half}${'x'.repeat(6_000_000)}"}`;
    for (let sent = 0; sent < 3; sent += 1) beyond.socket.send(whole);

    const theirs = await Connection.open(small.url, bearer(third));
    const ended = Promise.race(slow.map(({ socket }) => once(socket, 'close')));
    theirs.socket.send(whole);
    expect(((await ended) as [number])[0]).toBe(1013);
    expect((await theirs.ended()).at(-1)).toMatchObject({ error: { param: 'input' } });
    expect(beyond.told).toEqual([]);
    expect(beyond.socket.bufferedAmount).toBeGreaterThan(whole.length);
    for (const { socket } of [...slow, beyond, theirs]) socket.terminate();
    await small.close();
  });

  it('let a response end before the connection', async () => {
    const closing = await GatewayRig.start({
      models: [syntheticLlm({ tokens: 20, perTokenMs: 20 })],
      launch: 'hosted',
    });
    const connection = await Connection.open(closing.url, {});
    connection.send({ input: 'x' });
    await until(() => connection.told.length > 3);
    const closed = once(connection.socket, 'close') as Promise<[number]>;
    const isClosed = closing.close();
    expect((await closed)[0]).toBe(1001);
    expect(connection.told.at(-1)!.type).toBe('response.completed');
    await isClosed;
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type OpenAiUpstream } from '../../support/openai-upstream.js';
import { type GatewayRig } from '../api/gateway-rig.js';
import { DialectRig } from '../generation/dialect-rig.js';

let dialect: DialectRig;
let upstream: OpenAiUpstream;
let rig: GatewayRig;

beforeAll(async () => {
  dialect = await DialectRig.native(['chat', 'tools', 'responses']);
  ({ rig, upstream } = dialect);
}, 60_000);
afterAll(async () => dialect[Symbol.asyncDispose]());

/**
 * A number that parsing would change, a field that no one knows, and a tool that only the
 * other server has.
 */
const BODY =
  '{"model": "gpt-4o-mini", "input":"hi", "seed": 12345678901234567890, "tools":[{"type":"web_search"}], "odd": 1.0';
const usage =
  '"usage":{"input_tokens":7,"output_tokens":2,"input_tokens_details":{"cached_tokens":3}}';
const response = (status: string, more = ''): string =>
  `{"id":"resp_up","object":"response","model":"its/own-name","status":"${status}","odd":12345678901234567890${more}}`;
const event = (type: string, number: number, more: string): string =>
  `event: ${type}\ndata: {"type":"${type}","sequence_number":${number},${more}}\n\n`;

const post = (body: string): Promise<Response> =>
  fetch(`${rig.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });

describe('responses of a server that has the route itself', () => {
  it('reach it byte by byte but for model and store, and come back so', async () => {
    const body = response('completed', `,${usage}`);
    upstream.script({ kind: 'body', type: 'application/json', body });
    const before = upstream.posts.length;
    const answer = await post(`${BODY}, "store":false}`);
    const call = await upstream.post(before);
    expect(call.path).toBe('/v1/responses');
    expect(call.body.toString()).toBe(
      `${BODY.replace('gpt-4o-mini', 'its/own-name')}, "store":false}`,
    );
    const ours = body
      .replace('its/own-name', 'upstream-llm')
      .replace(/}$/, ',"service_tier":"default"}');
    expect(await answer.text()).toBe(ours);
    expect(answer.headers.get('x-switchyard-prompt-tokens')).toBe('7');
  });

  it('are streamed as they are', async () => {
    const delta = event('response.output_text.delta', 1, '"item_id":"m","delta":"a","odd":1.0');
    const done = event('response.completed', 2, `"response":${response('completed', `,${usage}`)}`);
    const body =
      event('response.created', 0, `"response":${response('in_progress')}`) + delta + done;
    upstream.script({ kind: 'body', type: 'text/event-stream', body });
    const answer = await post(`${BODY}, "stream":true, "store":false}`);
    const ours = body.replaceAll(
      /"its\/own-name"(.*)}}\n/g,
      (_, rest: string) => `"upstream-llm"${rest},"service_tier":"default"}}\n`,
    );
    expect(await answer.text()).toBe(`${ours}data: [DONE]\n\n`);
  });

  it('that break off say so in its place', async () => {
    const body = event('response.created', 0, `"response":${response('in_progress')}`);
    upstream.script({ kind: 'body', type: 'text/event-stream', body });
    const text = await (await post(`${BODY}, "stream":true, "store":false}`)).text();
    const events = text
      .split('\n\n')
      .filter(frame => frame.includes('data: {'))
      .map(frame => JSON.parse(frame.split('data: ')[1]!) as unknown);
    expect(events.slice(1)).toMatchObject([
      { type: 'error', sequence_number: 1, error: { code: 'engine_failed' } },
      {
        ...{ type: 'response.failed', sequence_number: 2 },
        response: {
          id: 'resp_up',
          model: 'upstream-llm',
          status: 'failed',
          error: { code: 'engine_failed' },
        },
      },
    ]);
  });

  it('are stored here, and what they continue is their input', async () => {
    const said =
      '{"type":"message","id":"msg_up","role":"assistant","status":"completed","content":[]}';
    const more = `,"previous_response_id":null,"output":[{"type":"web_search_call","id":"ws_1"},${said}],${usage}`;
    upstream.script({
      kind: 'body',
      type: 'application/json',
      body: response('completed', more),
    });
    const first = (await (await post(`${BODY}}`)).json()) as { id: string };
    expect(first).toMatchObject({
      id: expect.stringMatching(/^resp_.{48}$/),
      store: true,
      model: 'upstream-llm',
    });
    const found = (id: string) =>
      fetch(`${rig.url}/v1/responses/${id}`).then(answer => answer.json());
    expect(await found(first.id)).toEqual(first);

    const delta = event('response.output_text.delta', 1, '"item_id":"m","delta":"a"');
    const done = event(
      'response.completed',
      2,
      `"response":${response('completed', `,"output":[${said}],${usage}`)}`,
    );
    const body =
      event('response.created', 0, `"response":${response('in_progress')}`) + delta + done;
    upstream.script({ kind: 'body', type: 'text/event-stream', body });
    const before = upstream.posts.length;
    const text = await (
      await post(`${BODY}, "stream":true, "previous_response_id":"${first.id}"}`)
    ).text();
    const last = JSON.parse(text.split('data: ').at(-2)!.split('\n')[0]!) as {
      response: { id: string };
    };
    expect(last.response).toMatchObject({
      store: true,
      previous_response_id: first.id,
      status: 'completed',
    });
    expect(await found(last.response.id)).toEqual(last.response);
    const user = {
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_text', text: 'hi' }],
    };
    const assistant = {
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [],
    };
    expect((await upstream.post(before)).json()).toMatchObject({
      ...{ model: 'its/own-name', store: false, previous_response_id: null },
      input: [user, { type: 'web_search_call' }, assistant, user],
    });
  });

  it('are chats where they need what only the gateway has', async () => {
    const before = upstream.posts.length;
    const counted = await rig.post('/v1/responses/input_tokens', {
      model: 'gpt-4o-mini',
      input: 'hi',
    });
    expect(await counted.json()).toEqual({
      object: 'response.input_tokens',
      input_tokens: 3,
    });
    expect((await upstream.post(before)).path).toBe('/v1/chat/completions');
  });

  it('refuse what is wrong for any server', async () => {
    const answer = await post(`${BODY}, "temperature":3}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param: 'temperature' } });
  });
});

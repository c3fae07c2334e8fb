import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RequestView } from '../../../src/core/dispatch/request-view.js';
import { type WaitForecast } from '../../../src/core/forecast/forecast-view.js';
import { waitFrame } from '../../../src/gateway/messages/message-writer.js';
import { type OpenAiUpstream } from '../../support/openai-upstream.js';
import { type GatewayRig } from '../api/gateway-rig.js';
import { DialectRig } from '../generation/dialect-rig.js';
import { syntheticLlm } from '../generation/generation-rig.js';

let dialect: DialectRig;
let upstream: OpenAiUpstream;
let rig: GatewayRig;

beforeAll(async () => {
  dialect = await DialectRig.native(
    ['chat', 'tools', 'messages'],
    syntheticLlm({ tokens: 2, baseMs: 6000 }, { id: 'slow' }),
  );
  ({ rig, upstream } = dialect);
}, 60_000);
afterAll(async () => dialect[Symbol.asyncDispose]());

/**
 * A number that parsing would change, a field that no one knows, and a tool that only the
 * other server has.
 */
const BODY =
  '{"model": "gpt-4o-mini", "max_tokens":16, "seed": 12345678901234567890, "messages":[{"role":"user","content":"hi"}], "tools":[{"type":"web_search_20250305","name":"web_search"}], "odd": 1.0';
const usage = '"usage":{"input_tokens":7,"cache_read_input_tokens":3,"output_tokens":2}';
const event = (type: string, more = ''): string =>
  `event: ${type}\ndata: {"type":"${type}"${more}}\n\n`;

const post = (body: string): Promise<Response> =>
  fetch(`${rig.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'unused' },
    body,
  });

describe('messages of a server that has the route itself', () => {
  it('reach it byte by byte but for the model, and come back so', async () => {
    const body = `{"id":"msg_1","type":"message","model":"its/own-name","content":[],"stop_reason":"end_turn","odd":1.0,${usage}}`;
    upstream.script({ kind: 'body', type: 'application/json', body });
    const before = upstream.posts.length;
    const answer = await post(`${BODY}}`);
    const call = await upstream.post(before);
    expect(call.path).toBe('/v1/messages');
    expect(call.body.toString()).toBe(`${BODY.replace('gpt-4o-mini', 'its/own-name')}}`);
    expect(await answer.text()).toBe(body.replace('its/own-name', 'upstream-llm'));
    expect(answer.headers.get('x-switchyard-prompt-tokens')).toBe('10');
    expect(answer.headers.get('x-switchyard-completion-tokens')).toBe('2');
  });

  it('come as its events', async () => {
    const frames = [
      event('message_start', `,"message":{"model":"its/own-name","odd":1.0,${usage}}`),
      event('content_block_delta', ',"index":0,"delta":{"type":"text_delta","text":"x"}'),
      event('message_delta', ',"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}'),
      event('message_stop'),
    ];
    upstream.script({ kind: 'body', type: 'text/event-stream', body: frames.join('') });
    const answer = await post(`${BODY},"stream":true}`);
    expect(await answer.text()).toBe(frames.join('').replace('its/own-name', 'upstream-llm'));
  });

  it('fail in the envelope of the dialect', async () => {
    const body = event('error', ',"error":{"type":"api_error","message":"No memory."}');
    upstream.script({ kind: 'body', type: 'text/event-stream', body });
    const answer = await post(`${BODY},"stream":true}`);
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({
      type: 'error',
      error: { type: 'api_error', message: expect.stringContaining('No memory.') },
    });
    const cut = event('message_start', ',"message":{"model":"x"}');
    upstream.script({ kind: 'body', type: 'text/event-stream', body: cut });
    const broken = await (await post(`${BODY},"stream":true}`)).text();
    expect(broken.split('\n\n').at(-2)).toContain('event: error');
  });
});

describe('a message that waits', () => {
  const ask = () =>
    post(
      '{"model":"slow","max_tokens":16,"stream":true,"messages":[{"role":"user","content":"hi"}]}',
    );

  it('is told what it waits for, in comments between pings', async () => {
    expect(await (await ask()).text()).toMatch(
      /^: running\nevent: ping\ndata: {"type":"ping"}\n\nevent: message_start\n/,
    );
    const view = { state: 'queued', position: 3 } as RequestView;
    const startInMs = { p50: 4210, p90: 9000 };
    const forecast = { startInMs, endInMs: startInMs, basis: 'simulation' } as const;
    expect(waitFrame(view, forecast as unknown as WaitForecast)).toMatch(
      /^: queued, place 3, starts in about 4.2 s\nevent: ping\n/,
    );
  }, 60_000);

  it('tells in the stream that it failed after it was told to wait', async () => {
    const first = ask();
    const second = await post(
      '{"model":"slow","max_tokens":16,"stream":true,"messages":[{"role":"user","content":"hi"}]}',
    );
    expect(second.status).toBe(200);
    const id = second.headers.get('request-id');
    await rig.post(`/v1/requests/${id}/cancel`, {});
    const frames = (await second.text()).split('\n\n');
    expect(frames.at(-2)).toContain('event: error');
    await (await first).text();
  }, 60_000);
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, expectError, GatewayRig, builtLaunch, until } from '../api/gateway-rig.js';
import { chat, eventsOf, syntheticLlm } from './generation-rig.js';

let rig: GatewayRig;

beforeAll(async () => {
  const faults = [
    { marker: 'CRASH_FIRST', action: 'crash' },
    { marker: 'HANG_FIRST', action: 'hang' },
    { marker: 'STALL', action: 'slow', ms: 3_600_000, afterTokens: 2 },
  ];
  const settings = {
    'inference.generation_timeout_ms': 3000,
    'inference.generation_idle_ms': 1500,
  };
  const model = syntheticLlm({ maxConcurrent: 4, tokens: 6, faults }, { replicas: 2 });
  rig = await GatewayRig.start({ models: [model], launch: builtLaunch, settings });
  await allReady();
}, 60_000);
afterAll(() => rig.close());

const allReady = () => until(() => rig.pool.workers().every(({ state }) => state === 'ready'));
const ask = (content: string, fields: object = {}, init: RequestInit = {}) =>
  rig.post('/v1/chat/completions', chat(content, fields), init);

/** Reads events until there are `count`, and leaves the rest for later. */
async function first(response: Response, count: number) {
  const reader = response.body!.getReader();
  let text = '';
  while (text.split('\n\n').length <= count)
    text += Buffer.from((await reader.read()).value).toString();
  return async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += Buffer.from(part.value).toString();
    return eventsOf(new Response(text));
  };
}

describe('a worker that dies', () => {
  it('in mid-stream ends the stream with an error, after what was said; the request is not sent again', async () => {
    const id = 'lost';
    const response = await ask(
      'a STALL of words',
      { stream: true },
      { headers: { 'x-request-id': id } },
    );
    const rest = await first(response, 2);
    const { worker } = (await rig.json(`/admin/v1/requests/${id}`)) as {
      worker: string;
    };
    process.kill(rig.pool.workers().find(view => view.id === worker)!.pid!, 'SIGKILL');
    const events = await rest();
    expect(events).toHaveLength(3);
    expect(JSON.parse(events[2]!)).toMatchObject({
      error: { code: 'worker_lost', type: 'server_error' },
    });
    expect(await rig.json(`/v1/requests/${id}`)).toMatchObject({
      state: 'failed',
      attempts: 1,
      code: 'worker_lost',
    });
    await allReady();
  }, 30_000);

  it('before the first byte costs one more attempt, of a stream too', async () => {
    const id = 'again';
    const headers = { 'x-request-id': id };
    const answering = ask('HANG_FIRST or not', { stream: true }, { headers });
    await until(() => rig.pool.workers().some(({ slots }) => slots.inUse === 1));
    const busy = rig.pool.workers().find(({ slots }) => slots.inUse === 1)!;
    process.kill(busy.pid!, 'SIGKILL');
    await until(
      async () => ((await rig.json(`/v1/requests/${id}`)) as { attempts: number }).attempts === 2,
    );
    await fetch(`${rig.url}/v1/requests/${id}/cancel`, { method: 'POST' });
    await expectError(answering, {
      status: 499,
      code: 'request_cancelled',
    });
    await allReady();
  }, 30_000);

  it('twice alone before the first byte is 500 worker_crashed, and an answer that hangs is 504', async () => {
    await expectError(ask('CRASH_FIRST', { stream: true }), {
      status: 500,
      code: 'worker_crashed',
    });
    await allReady();
    const hung = await errorOf(ask('HANG_FIRST'));
    expect(hung).toMatchObject({ status: 504, code: 'inference_timeout' });
    expect(hung.headers.get('x-should-retry')).toBe('false');
    await until(() => rig.pool.workers().every(({ slots }) => slots.inUse === 0));
  }, 30_000);
});

describe('a worker that falls silent in mid-stream', () => {
  it('is left after inference.generation_idle_ms: error event, and the slot is free again', async () => {
    const events = await eventsOf(await ask('a STALL of words', { stream: true }));
    expect(events).toHaveLength(3);
    expect(JSON.parse(events[2]!)).toMatchObject({
      error: {
        code: 'inference_timeout',
        message: 'The worker sent nothing for 1500 ms in mid-answer.',
      },
    });
    await until(() => rig.pool.workers().every(({ slots }) => slots.inUse === 0));
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { modelSpec } from '../../support/pool-harness.js';
import { audioForm } from './audio-forms.js';
import { expectError, GatewayRig, until } from './gateway-rig.js';

const PATH = '/v1/audio/transcriptions';
const ABLE = { capabilities: ['transcribe', 'prompt'], languages: ['en'] } as const;

interface Event {
  readonly type?: string;
  readonly delta?: string;
  readonly text?: string;
  readonly error?: { readonly code: string };
}

/** The events of a stream as they come; `[DONE]` is the event of that type. */
async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let rest = '';
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    const frames = (rest + Buffer.from(bytes).toString()).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const data = frame.replace('data: ', '');
      yield data === '[DONE]' ? { type: data } : (JSON.parse(data) as Event);
    }
  }
}

describe('stream=true', () => {
  const worker = new FixtureWorker({ model: 'm', capabilities: [...ABLE.capabilities] });
  let rig: GatewayRig;
  beforeAll(async () => {
    const port = await worker.start();
    rig = await GatewayRig.start({
      models: [modelSpec({ ...ABLE, id: 'm', addresses: [`127.0.0.1:${port}`] })],
    });
    await rig.ready('m');
  });
  afterAll(async () => {
    await rig.close();
    worker.stop();
  });

  const stream = (prompt: string, fields: Record<string, string> = {}, init: RequestInit = {}) =>
    rig.post(PATH, audioForm({ fields: { model: 'm', stream: 'true', prompt, ...fields } }), init);

  it('tells each segment while the rest is still recognised; the deltas are the text', async () => {
    const events = eventsOf(await stream(script.sayAndHold('one two', 'three')));
    const first = [await events.next(), await events.next()].map(({ value }) => value as Event);
    expect(first.map(({ delta }) => delta)).toEqual(['one two', ' three']);
    expect(worker.holding).toHaveLength(1);
    worker.releaseAll();
    const rest: Event[] = [];
    for await (const event of events) rest.push(event);
    expect(rest.map(({ type }) => type)).toEqual(['transcript.text.done', '[DONE]']);
    expect(rest[0]?.text).toBe('one two three');
  });

  it('writes numbers alike in deltas and text', async () => {
    const events = eventsOf(
      await stream(script.say('twenty five percent', 'of it'), { itn: 'true' }),
    );
    const all: Event[] = [];
    for await (const event of events) all.push(event);
    expect(all.map(({ delta }) => delta ?? '').join('')).toBe('25% of it');
    expect(all.find(({ type }) => type === 'transcript.text.done')?.text).toBe('25% of it');
  });

  it('answers a failure before the first segment with its own status', async () => {
    await expectError(stream(script.fail('invalid_audio')), {
      status: 400,
      code: 'invalid_audio',
    });
  });

  it('tells a failure after the first segment inside the stream, in the envelope, as its end', async () => {
    const id = 'cancelled-in-the-middle';
    const events = eventsOf(
      await stream(script.sayAndHold('one'), {}, { headers: { 'x-request-id': id } }),
    );
    await events.next();
    await rig.post(`/v1/requests/${id}/cancel`, {});
    const rest: Event[] = [];
    for await (const event of events) rest.push(event);
    expect(rest).toMatchObject([{ error: { code: 'request_cancelled' } }]);
  });

  it('is cancelled when its reader leaves', async () => {
    const id = 'reader-left';
    const left = new AbortController();
    const response = await stream(
      script.sayAndHold('one'),
      {},
      { headers: { 'x-request-id': id }, signal: left.signal },
    );
    await eventsOf(response).next();
    left.abort();
    await until(() => worker.cancelled.includes(id));
    await until(() => worker.holding.length === 0);
  });
});

describe('stream=true, and the worker dies after the first segment', () => {
  it('goes on with another worker: the upload is sent again, nothing is told twice', async () => {
    const [one, two] = [new FixtureWorker({ model: 'm' }), new FixtureWorker({ model: 'm' })];
    const addresses = [`127.0.0.1:${await one.start()}`, `127.0.0.1:${await two.start()}`];
    const rig = await GatewayRig.start({
      models: [modelSpec({ ...ABLE, id: 'm', addresses })],
    });
    await rig.allReady();
    const form = audioForm({
      fields: { model: 'm', stream: 'true', prompt: script.sayAndHold('one', 'two') },
    });
    const events = eventsOf(await rig.post(PATH, form));
    expect([(await events.next()).value, (await events.next()).value]).toMatchObject([
      { delta: 'one' },
      { delta: ' two' },
    ]);
    const [dying, heir] = one.holding.length > 0 ? [one, two] : [two, one];
    dying.stop();
    await heir.arrivals(1);
    heir.releaseAll();
    const rest: Event[] = [];
    for await (const event of events) rest.push(event);
    expect(rest).toMatchObject([
      { type: 'transcript.text.done', text: 'one two' },
      { type: '[DONE]' },
    ]);
    expect(await rig.spooled()).toEqual([]);
    await rig.close();
    heir.stop();
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type DispatchEvent } from '../../../src/core/dispatch/dispatch-event.js';
import { DispatchEventBus } from '../../../src/platform/events/events.module.js';
import { formOf } from '../../support/form-of.js';
import { pcmWav } from '../../support/pcm-wav.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { type GatewayRig, until } from '../api/gateway-rig.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { realtimeRig } from './realtime-rig.js';

const RATE = 16_000;
/** Milliseconds of audio that nobody understands. */
const audio = (ms: number): Buffer => Buffer.alloc((RATE * 2 * ms) / 1000, 7);

let rig: GatewayRig;
let client: RealtimeClient;
let events: DispatchEvent[];
beforeAll(async () => {
  rig = await realtimeRig({
    model: { capabilities: ['transcribe'] },
    engine: { perItemMs: 100 },
    settings: { 'realtime.interim_ms': 300 },
  });
  rig.app.get(DispatchEventBus, { strict: false }).events$.subscribe(event => events.push(event));
});
afterAll(() => rig.close());
beforeEach(async () => {
  events = [];
  client = await RealtimeClient.synthetic(rig.url);
});
afterEach(async () => {
  client.socket.close(1000);
  await client.closed;
});

const isPass = ({ requestId }: DispatchEvent) => /\.\d+\.\d+\.\d+$/.test(requestId);
const ended = (matches: (event: DispatchEvent) => boolean) =>
  events.flatMap(event => (event.type === 'settled' && matches(event) ? [event.status] : []));
const passes = () => events.filter(event => event.type === 'accepted' && isPass(event)).length;
const transcribe = (wav: Buffer<ArrayBuffer>, at = rig) =>
  at.post('/v1/audio/transcriptions', formOf({ model: 'synthetic' }, wav, 'file.wav'));

describe('a model without live streams', () => {
  it('sends words while they are spoken, the first ones of one pass; the final text is that of the whole', async () => {
    client.say(audio(300));
    const { delta } = await client.next(`${TRANSCRIPTION}.delta`);
    expect(delta).toBe('synthetic transcript');
    client.say(audio(300));
    await until(() => ended(isPass).length === 2);
    client.commit();
    const { transcript } = await client.next(`${TRANSCRIPTION}.completed`);
    const { text } = (await (await transcribe(pcmWav(audio(600), RATE))).json()) as {
      text: string;
    };
    expect(transcript).toBe(text);
    expect(ended(isPass)).toEqual(['completed', 'completed']);
  });

  it('begins no pass while a file runs or waits', async () => {
    const files = Promise.all([1, 2, 3].map(() => transcribe(pcmWav(audio(100), RATE))));
    await until(() => events.filter(({ type }) => type === 'accepted').length === 3);
    client.say(audio(400));
    for (const { status } of await files) expect(status).toBe(200);
    const order = events.filter(({ type }) => type === 'accepted' || type === 'settled');
    // Whatever began, began when all three were answered.
    expect(order.slice(0, 6).filter(isPass)).toEqual([]);
  });

  it('a file ends the pass that runs', async () => {
    client.say(audio(300));
    await until(() => passes() === 1);
    await transcribe(pcmWav(audio(100), RATE));
    expect(ended(isPass)).toEqual(['cancelled']);
    expect(ended(event => !isPass(event))).toEqual(['completed']);
  });
});

it('each pass is a request of its tenant, in the class BATCH, and on its account', async () => {
  const keys = new KeysFolder();
  const [reader, operator] = [keys.add('reader', 'inference'), keys.add('operator', 'admin')];
  const closed = await realtimeRig({
    model: { capabilities: ['transcribe'] },
    engine: { perItemMs: 100 },
    settings: { 'realtime.interim_ms': 300, 'auth.keys_file': keys.file },
  });
  closed.app.get(DispatchEventBus, { strict: false }).events$.subscribe(one => events.push(one));
  const live = await RealtimeClient.synthetic(closed.url, {}, { headers: bearer(reader) });
  live.say(audio(300));
  await until(() => ended(isPass).length === 1);
  const settled = events.find(({ type }) => type === 'settled');
  expect(settled).toMatchObject({ tenant: 'reader', priority: 'batch', status: 'completed' });
  const used = async () => {
    const url = `${closed.url}/admin/v1/usage?group_by=tenant&tenant=reader`;
    const answer = await fetch(url, { headers: bearer(operator) });
    return ((await answer.json()) as { data: readonly { device_ms: number }[] }).data;
  };
  await until(async () => (await used()).length > 0);
  expect(await used()).toEqual([expect.objectContaining({ tenant: 'reader', requests: 1 })]);
  expect((await used())[0]!.device_ms).toBeGreaterThan(0);
  live.socket.close(1000);
  await live.closed;
  await closed.close();
});

describe('a slow model without live streams', () => {
  const speaks = async (): Promise<RealtimeClient> => {
    const other = await RealtimeClient.synthetic(slow.url);
    other.say(audio(1000));
    return other;
  };
  /** As soon as there is room: the gateway ends a session a moment after its client. */
  const heard = async () => {
    for (;;) {
      const client = await speaks();
      client.commit();
      const said = await client.next(`${TRANSCRIPTION}.completed`).catch(() => undefined);
      if (said) return { client, said };
    }
  };
  let slow: GatewayRig;
  beforeAll(async () => {
    slow = await realtimeRig({
      model: { capabilities: ['transcribe'] },
      engine: { perItemMs: 350, maxBatch: 1, input: 'pcm' },
      settings: { 'realtime.interim_ms': 300, 'realtime.recovery_ms': 10 },
    });
    slow.app.get(DispatchEventBus, { strict: false }).events$.subscribe(one => events.push(one));
    await transcribe(pcmWav(audio(1000), RATE), slow);
  });
  afterAll(() => slow.close());

  it('refuses the one too many at once, with the time; the others go on, and one that ends makes room', async () => {
    const [one, two] = [await speaks(), await speaks()];
    const third = await speaks();
    expect((await third.next('error')).error).toMatchObject({
      code: 'queue_full',
      message: expect.stringContaining('has 2'),
    });
    expect((await third.closed).code).toBe(1013);
    for (const other of [one, two]) {
      other.commit();
      expect((await other.next(`${TRANSCRIPTION}.completed`)).transcript).not.toBe('');
    }
    one.socket.close(1000);
    await one.closed;
    const { client: next, said } = await heard();
    expect(said.transcript).not.toBe('');
    for (const other of [two, next]) other.socket.close(1000);
  });

  it('counts what utterances take, not the files between them, which take less for a second', async () => {
    const two = [await heard(), await heard()];
    await transcribe(pcmWav(audio(60_000), RATE), slow);
    const third = await speaks();
    expect((await third.next('error')).error).toMatchObject({ code: 'queue_full' });
    for (const { client: other } of two) {
      other.socket.close(1000);
      await other.closed;
    }
  });

  it('begins no pass beside 5 files, and the final text waits for the engine call that runs at most', async () => {
    const files = Array.from({ length: 5 }, () => transcribe(pcmWav(audio(100), RATE), slow));
    await until(() => events.filter(({ type }) => type === 'accepted').length === 5);
    const { client: live } = await heard();
    await Promise.all(files);
    live.socket.close(1000);
    expect(events.filter(isPass)).toEqual([]);
    const from = events.findIndex(
      ({ type, priority }) => type === 'accepted' && priority === 'realtime',
    );
    const settled = events
      .slice(from)
      .flatMap(event => (event.type === 'settled' ? [event.priority] : []));
    const leased = events.slice(from).find(({ type }) => type === 'leased');
    expect(leased).toMatchObject({ priority: 'realtime' });
    // Behind the file that runs, and one whose answer was on its way.
    expect(settled.indexOf('realtime')).toBeLessThanOrEqual(2);
    expect(settled.length).toBeGreaterThan(2);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LiveQueueLine } from '../../../src/contracts/events/live-event.js';
import { formOf } from '../../support/form-of.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { FeedClient } from './feed-client.js';

let rig: GatewayRig;
beforeAll(async () => {
  const models = [sttModel({ replicas: 1 }), sttModel({ id: 'idle', aliases: [] })];
  rig = await GatewayRig.start({ models });
  await rig.ready('stt');
});
afterAll(() => rig.close());

const transcribe = (id: string, model = 'stt') =>
  rig.post('/v1/audio/transcriptions', formOf({ model }, 'hello'), {
    headers: { 'x-request-id': id },
  });
const line = (client: FeedClient, model: string) => client.state('queue')[model] as LiveQueueLine;

describe('the live feed', () => {
  it('tells a request from acceptance to its end to who joined before it came', async () => {
    using client = await FeedClient.connect(rig.url);
    expect(await client.join('request:r1')).toMatchObject({
      ok: true,
      found: false,
      snapshots: [],
    });
    expect((await transcribe('r1')).status).toBe(200);
    await until(() => client.request('r1')?.state === 'completed');
    expect(client.deltas.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(client.deltas.map(({ set }) => (set.r1 as { state: string }).state)).toEqual([
      'queued',
      'running',
      'completed',
    ]);
    expect(client.request('r1')).toMatchObject({
      model: 'stt',
      attempts: 1,
      worker: 'stt-0',
      batch_size: 1,
    });
  });

  it('answers a join with the state there is, also of a request that has ended', async () => {
    await transcribe('r2');
    using client = await FeedClient.connect(rig.url);
    const { found, snapshots } = await client.join('request:r2');
    expect(found).toBe(true);
    expect(snapshots).toMatchObject([{ seq: 0, state: { r2: { state: 'completed' } } }]);
  });

  it('shows what waits, and that it left', async () => {
    using client = await FeedClient.connect(rig.url);
    await client.join('queue');
    const answer = transcribe('waiting', 'idle');
    await until(() => line(client, 'idle').batch === 1);
    await rig.post('/v1/requests/waiting/cancel', {});
    await until(() => line(client, 'idle').batch === 0);
    expect(line(client, 'idle').cancelled).toBe(1);
    expect((await answer).status).toBe(499);
  });

  it('shows the workers, and neither their addresses nor their processes', async () => {
    using client = await FeedClient.connect(rig.url);
    const { snapshots } = await client.join('workers');
    expect(snapshots[0]?.state['stt-0']).toEqual({
      ...{ id: 'stt-0', model: 'stt', state: 'ready', in_use: 0, restarts: 0 },
      ...{ slots: expect.any(Number), streams: expect.any(Number) },
    });
    process.kill((await rig.ready('stt')).pid!, 'SIGKILL');
    await until(() => (client.state('workers')['stt-0'] as { restarts: number }).restarts === 1);
  });

  it('may join the room of a batch that nobody made yet', async () => {
    using client = await FeedClient.connect(rig.url);
    expect(await client.join('batch:batch_1')).toEqual({
      ok: true,
      room: 'batch:batch_1',
      found: false,
      snapshots: [],
    });
  });

  it('lets a client find a gap by the numbers and mend it by asking', async () => {
    using client = await FeedClient.connect(rig.url);
    await client.join('request:gap');
    const { socket, deltas } = client;
    const [listen] = socket.listeners('delta');
    socket.off('delta');
    socket.once('delta', () => socket.on('delta', listen!));
    await transcribe('gap');
    await until(() => deltas.length === 2);
    expect(client.gaps).toBe(2);
    expect(client.request('gap')).toBeUndefined();
    await client.sync('request:gap');
    expect(client.request('gap')?.state).toBe('completed');
  });

  it('is silent after leaving', async () => {
    using client = await FeedClient.connect(rig.url);
    await client.join('request:left');
    await client.ask('leave', 'request:left');
    await transcribe('left');
    await client.join('request:left');
    expect(client.deltas).toEqual([]);
  });
});

describe('what clients may not do', () => {
  it.each([
    '',
    'everything',
    'request:',
    'request:a b',
    `request:${'x'.repeat(129)}`,
    'batch:../x',
  ])('join %p', async room => {
    using client = await FeedClient.connect(rig.url);
    expect(await client.ask('join', room)).toMatchObject({
      ok: false,
      error: { code: 'invalid_value' },
    });
  });

  it('join more than 50 rooms, or go on sending more than 10 messages a second', async () => {
    using client = await FeedClient.connect(rig.url);
    for (let i = 0; i < 50; i++) expect((await client.ask('join', `request:r${i}`)).ok).toBe(true);
    expect(await client.ask('join', 'request:more')).toMatchObject({
      ok: false,
      error: { code: 'live_feed_limit' },
    });
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => client.ask('sync', 'request:r1')),
    );
    expect(answers.at(-1)).toMatchObject({
      ok: false,
      error: { code: 'live_feed_limit', type: 'rate_limit_error' },
    });
    const gone = new Promise(resolve => client.socket.once('disconnect', resolve));
    for (let i = 0; i < 300; i++) client.socket.emit('sync', 'request:r1', () => undefined);
    expect(await gone).toBe('io server disconnect');
  });

  it('sync a room they are not in, send a message of 5 KiB, or use the namespace without a name', async () => {
    using client = await FeedClient.connect(rig.url);
    expect(await client.ask('sync', 'queue')).toMatchObject({
      ok: false,
      error: { code: 'invalid_value' },
    });
    const gone = new Promise(resolve => client.socket.once('disconnect', resolve));
    client.socket.emit('join', 'x'.repeat(5000), () => undefined);
    expect(await gone).toBe('transport close');
    const { io } = await import('socket.io-client');
    const nameless = io(rig.url, {
      path: '/events/',
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
    });
    const error = await new Promise<Error>(resolve => nameless.once('connect_error', resolve));
    expect(error.message).toBe('Connect to the namespace /events.');
    nameless.disconnect();
  });

  it('come from a web page of another origin', async () => {
    await expect(
      FeedClient.connect(rig.url, undefined, { origin: 'https://evil.example' }),
    ).rejects.toThrow();
    (await FeedClient.connect(rig.url, undefined, { origin: rig.url }))[Symbol.dispose]();
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { builtLaunch, type GatewayRig, until } from '../api/gateway-rig.js';
import { heardIn, realtimeRig, signalWorker } from './realtime-rig.js';

describe('a worker that dies under a session', () => {
  let rig: GatewayRig;
  afterEach(() => rig.close());

  it('is replaced: what came since the last segment is heard again, and the client sees one warning', async () => {
    rig = await realtimeRig({ launch: builtLaunch });
    const client = await RealtimeClient.synthetic(rig.url);
    client.say('finished segment');
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
    for (const frame of ['this ', 'goes ', 'on ']) client.say(frame);
    await client.next(`${TRANSCRIPTION}.delta`);
    signalWorker(rig, 'SIGKILL');
    client.say('and on ');
    client.commit();
    const completed = await client.next(`${TRANSCRIPTION}.completed`);
    expect(completed.transcript).toBe(heardIn('this goes on and on '.padEnd(20)));
    const troubles = client.types().filter(type => type === 'error' || type === 'session.warning');
    expect(troubles).toEqual(['session.warning']);
    expect(client.events.find(({ type }) => type === 'session.warning')?.warning.code).toBe(
      'worker_replaced',
    );
    expect(
      await rig.metric('stt_worker_recoveries_total{model="synthetic",outcome="recovered"}'),
    ).toBe(1);
    client.socket.close(1000);
  });

  it('and is not replaced: the utterance fails; the session closes with 1013 after the recovery time', async () => {
    rig = await realtimeRig({
      launch: builtLaunch,
      settings: {
        'realtime.recovery_ms': 300,
        'workers.restart_min_ms': 60_000,
        'workers.restart_max_ms': 60_000,
      },
    });
    const client = await RealtimeClient.synthetic(rig.url);
    for (const frame of ['a ', 'b ', 'c ']) client.say(frame);
    await client.next(`${TRANSCRIPTION}.delta`);
    signalWorker(rig, 'SIGKILL');
    const failed = await client.next(`${TRANSCRIPTION}.failed`);
    expect(failed.error.code).toMatch(/no_worker|worker_lost/);
    await client.next('error');
    expect((await client.closed).code).toBe(1013);
    expect(client.types().filter(type => type === 'error')).toHaveLength(1);
  });
});

const STORED_EVENTS = 2000;

describe('a connection that drops', () => {
  let rig: GatewayRig;
  let client: RealtimeClient;
  beforeEach(async () => {
    rig = await realtimeRig({
      settings: { 'realtime.resume_window_ms': 5000 },
    });
    client = await RealtimeClient.synthetic(rig.url);
  });
  afterEach(() => rig.close());

  const resume = (lastEventId: string, secret?: string): Promise<RealtimeClient> => {
    const { session } = client.events[0]!;
    const query = {
      session_id: session.id,
      session_secret: secret ?? session.resume.secret,
      last_event_id: lastEventId,
    };
    return RealtimeClient.open(rig.url, query);
  };

  it('is resumed with neither loss nor duplicate: events, and audio that was on its way', async () => {
    client.say('said before ');
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
    client.drop();
    const seen = client.events.at(-3)!.event_id;
    const second = await resume(seen);
    const resumed = await second.next('session.resumed');
    expect(resumed.audio_received_ms).toBeCloseTo((12 / 32_000) * 1000);
    expect(second.events.map(({ event_id }) => event_id)).toEqual([
      ...client.events.slice(-2).map(({ event_id }) => event_id),
      resumed.event_id,
    ]);
    second.say('said after');
    second.commit();
    await second.next(`${TRANSCRIPTION}.completed`);
    expect(second.transcripts().at(-1)).toBe(heardIn('said after'));
    second.socket.close(1000);
  });

  it('goes on working while nobody is connected', async () => {
    client.say('the last words');
    client.commit();
    await client.next('input_audio_buffer.committed');
    const seen = client.events.at(-1)!.event_id;
    client.drop();
    const second = await resume(seen);
    await second.next(`${TRANSCRIPTION}.completed`);
    const ids = [...client.events, ...second.events].map(({ event_id }) => event_id);
    const texts = [...new Set([...client.transcripts(), ...second.transcripts()])];
    expect(texts).toEqual([heardIn('the last words')]);
    expect(ids.length).toBeGreaterThan(0);
    second.socket.close(1000);
  });

  it('is rejected when its missed events are gone, and continues without them when it does not ask', async () => {
    const first = client.events[0]!.event_id;
    for (let sent = 0; sent <= STORED_EVENTS; sent += 1) {
      client.update({ transcription: { language: 'en' } });
      await client.next('session.updated');
    }
    client.drop();
    const refused = await resume(first);
    expect((await refused.next('error')).error).toMatchObject({
      code: 'session_not_found',
      param: 'last_event_id',
    });
    expect((await refused.closed).code).toBe(1008);
    const second = await resume('');
    expect((await second.next('session.resumed')).audio_received_ms).toBe(0);
    expect(second.types()).toEqual(['session.resumed']);
    second.say('and on');
    second.commit();
    expect((await second.next(`${TRANSCRIPTION}.completed`)).transcript).toBe(heardIn('and on'));
    second.socket.close(1000);
  });

  it('is not resumed with another secret, nor after an event that never was', async () => {
    client.drop();
    for (const attempt of [resume('', 'guess'), resume('event_never')]) {
      const stranger = await attempt;
      expect((await stranger.next('error')).error.code).toBe('session_not_found');
      expect((await stranger.closed).code).toBe(1008);
    }
  });

  it('gives its stream back when nobody resumes it in time', async () => {
    for (const frame of ['a ', 'b ', 'c ']) client.say(frame);
    await client.next(`${TRANSCRIPTION}.delta`);
    client.drop();
    await until(() => rig.pool.workers()[0]?.streamsInUse === 0);
  });

  it('a newer connection takes the session over from an older one', async () => {
    const second = await resume(client.events.at(-1)!.event_id);
    await second.next('session.resumed');
    expect((await client.closed).code).toBe(1008);
    second.socket.close(1000);
  });
});

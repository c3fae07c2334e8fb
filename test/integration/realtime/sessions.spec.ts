import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { type GatewayRig, until } from '../api/gateway-rig.js';
import { heardIn, realtimeRig } from './realtime-rig.js';

let rig: GatewayRig;
let client: RealtimeClient;
beforeAll(async () => {
  rig = await realtimeRig({ streams: 2 });
});
afterAll(() => rig.close());
afterEach(async () => {
  client.socket.close(1000);
  await client.closed;
  await until(() => rig.pool.workers().every(({ streamsInUse }) => streamsInUse === 0));
});

describe('a live session', () => {
  it('announces itself, its end and how to resume it', async () => {
    client = await RealtimeClient.open(rig.url, { intent: 'transcription' });
    const { session } = await client.next('session.created');
    expect(session).toMatchObject({
      id: expect.stringMatching(/^sess_/),
      object: 'realtime.transcription_session',
      type: 'transcription',
      expires_at: expect.any(Number),
      idle_timeout_seconds: 300,
      resume: { secret: expect.any(String), window_seconds: 30 },
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          turn_detection: { type: 'server_vad' },
        },
      },
    });
  });

  it('transcribes binary frames of any length and base64 alike, in the order of OpenAI’s events', async () => {
    client = await RealtimeClient.synthetic(rig.url);
    for (const frame of ['o', 'ne t', 'wo ']) client.say(frame);
    client.append('three ');
    await client.next(`${TRANSCRIPTION}.delta`);
    client.commit();
    const { item_id } = await client.next('input_audio_buffer.committed');
    const completed = await client.next(`${TRANSCRIPTION}.completed`);
    expect(completed).toMatchObject({
      item_id,
      content_index: 0,
      transcript: heardIn('one two three '),
    });
    expect(completed.usage).toEqual({ type: 'duration', seconds: expect.any(Number) });
    expect(client.types().filter(type => !type.endsWith('.delta'))).toEqual([
      'session.created',
      'session.updated',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      `${TRANSCRIPTION}.segment`,
      `${TRANSCRIPTION}.completed`,
    ]);
  });

  it('loses no speech after a commit: items follow each other', async () => {
    client = await RealtimeClient.synthetic(rig.url);
    for (const text of ['first ', 'second', 'third ']) {
      client.say(text);
      client.commit();
    }
    for (let count = 0; count < 3; count += 1) await client.next(`${TRANSCRIPTION}.completed`);
    expect(client.transcripts()).toEqual(['first ', 'second', 'third '].map(said => heardIn(said)));
    const committed = client.events.filter(({ type }) => type === 'input_audio_buffer.committed');
    expect(committed.map(event => event.previous_item_id as unknown)).toEqual([
      null,
      committed[0]!.item_id,
      committed[1]!.item_id,
    ]);
  });

  it('forgets what was cleared', async () => {
    client = await RealtimeClient.synthetic(rig.url);
    client.say('never mind');
    client.send({ type: 'input_audio_buffer.clear' });
    await client.next('input_audio_buffer.cleared');
    client.say('this counts ');
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
    expect(client.transcripts()).toEqual([heardIn('this counts ')]);
  });

  it.each([
    ['audio/pcmu', 8000],
    ['audio/pcma', 8000],
  ])('takes %s: one byte is one sample of %d a second', async type => {
    client = await RealtimeClient.synthetic(rig.url, { format: { type } });
    client.say(Buffer.alloc(8000, 0xff));
    client.commit();
    const { usage } = await client.next(`${TRANSCRIPTION}.completed`);
    expect(usage.seconds).toBeCloseTo(1, 1);
  });

  it.each([8000, 16_000, 24_000, 48_000])('takes PCM at %d Hz', async rate => {
    client = await RealtimeClient.synthetic(rig.url, {
      format: { type: 'audio/pcm', rate },
    });
    client.say(Buffer.alloc(rate * 2));
    client.commit();
    const { usage } = await client.next(`${TRANSCRIPTION}.completed`);
    expect(usage.seconds).toBeCloseTo(1, 1);
  });

  it('goes on with a new stream when it is set anew, with nothing lost', async () => {
    client = await RealtimeClient.synthetic(rig.url);
    client.say('before');
    client.update({ transcription: { language: 'en' } });
    client.say('after ');
    client.commit();
    while (client.transcripts().length < 2) await client.next(`${TRANSCRIPTION}.completed`);
    expect(client.transcripts()).toEqual(['before', 'after '].map(said => heardIn(said)));
  });

  it('counts itself and its texts in the metrics', async () => {
    client = await RealtimeClient.synthetic(rig.url);
    for (const frame of ['count ', 'me ', 'in']) client.say(frame);
    await client.next(`${TRANSCRIPTION}.delta`);
    expect(await rig.metric('stt_active_sessions{model="synthetic"}')).toBe(1);
    const before = await rig.metric('stt_final_delay_seconds_count{model="synthetic"}');
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
    expect(await rig.metric('stt_final_delay_seconds_count{model="synthetic"}')).toBe(before + 1);
  });
});

import { once } from 'node:events';
import { credentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from '@jest/globals';
import { streamConfigMessage } from '@switchyard/worker-protocol/call.codec.js';
import { SpeechToTextStub } from '@switchyard/worker-protocol/stt.codec.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { GatewayRig, builtLaunch, until } from '../api/gateway-rig.js';
import { heardIn, realtimeRig, streamsInUse } from './realtime-rig.js';

let rig: GatewayRig;
afterEach(() => rig.close());

const speaking = async (audio: string): Promise<RealtimeClient> => {
  const client = await RealtimeClient.synthetic(rig.url);
  client.say(audio);
  return client;
};
const completed = async (client: RealtimeClient): Promise<unknown> => {
  client.commit();
  return (await client.next(`${TRANSCRIPTION}.completed`)).transcript;
};

describe('the only slot of a model', () => {
  it('is there for the next session at once, whatever close code the last one sent', async () => {
    rig = await realtimeRig({ streams: 1 });
    // Browsers send 1001 when a page goes away, and no code (1005) after a plain close().
    for (const code of [1000, 1001, 4000, undefined]) {
      const client = await speaking('first ');
      expect(await completed(client)).toBe(heardIn('first '));
      client.socket.close(code);
    }
    const last = await speaking('the last');
    expect(await completed(last)).toBe(heardIn('the last'));
    last.socket.close(1000);
  });

  it('is there for the next session when its engine stops late', async () => {
    rig = await realtimeRig({
      streams: 1,
      engine: { faults: [{ marker: 'LATE', action: 'linger', ms: 600 }] },
    });
    for (let round = 0; round < 4; round += 1) {
      const client = await speaking('LATE ');
      await until(() => streamsInUse(rig) === 1);
      client.socket.close();
      await client.closed;
    }
    const last = await speaking('the last');
    expect(await completed(last)).toBe(heardIn('the last'));
    last.socket.close(1000);
  });

  it('is there for a session when another gateway has left it', async () => {
    rig = await realtimeRig({ streams: 1 });
    const other = new SpeechToTextStub(
      rig.pool.workers()[0]!.address!,
      credentials.createInsecure(),
    );
    const held = other.transcribeStream();
    held.on('error', () => undefined);
    const config = {
      sessionId: 'held',
      language: '',
      prompt: '',
      sampleRate: 16_000,
      partials: false,
    };
    held.write(streamConfigMessage(config));
    await once(held, 'data');
    const client = await speaking('mine now');
    // The worker refuses it at once: what this gateway counts as free is not.
    await until(() => streamsInUse(rig) === 1, { everyMs: 0 });
    held.cancel();
    other.close();
    expect(await completed(client)).toBe(heardIn('mine now'));
    client.socket.close(1000);
  });

  it('is given by a session whose client is away to one whose client is here', async () => {
    rig = await realtimeRig({ streams: 1 });
    const lost = await speaking('before the tunnel ');
    await until(() => streamsInUse(rig) === 1);
    const { session } = lost.events[0]!;
    lost.drop();
    const newcomer = await speaking('I am here ');
    expect(await completed(newcomer)).toBe(heardIn('I am here '));
    const back = await RealtimeClient.open(rig.url, {
      session_id: session.id,
      session_secret: session.resume.secret,
    });
    expect((await back.next('error')).error.code).toBe('session_not_found');
    newcomer.socket.close(1000);
  });

  it('stays with a session whose client is here: the next one is told to try again', async () => {
    rig = await realtimeRig({ streams: 1 });
    const holder = await speaking('mine');
    await until(() => streamsInUse(rig) === 1);
    const second = await speaking('mine too ');
    expect((await second.next('error')).error.code).toBe('queue_full');
    expect((await second.closed).code).toBe(1013);
    expect(await completed(holder)).toBe(heardIn('mine'));
    holder.socket.close(1000);
  });
});

describe('a session that begins before the worker is ready', () => {
  it('waits for it, as a file does', async () => {
    const model = syntheticModel({ streams: 1 }, { capabilities: ['transcribe', 'stream'] });
    rig = await GatewayRig.start({ models: [model], launch: builtLaunch });
    const client = await speaking('early ');
    expect(rig.pool.workers().map(({ state }) => state)).toEqual(['starting']);
    expect(await completed(client)).toBe(heardIn('early '));
    client.socket.close(1000);
  });
});

describe('/admin/v1/sessions', () => {
  it('lists live sessions, attached and detached, and ends one with its last words finished', async () => {
    rig = await realtimeRig({ streams: 2 });
    const list = async (): Promise<
      { id: string; state: string; streaming: boolean; audio_seconds: number }[]
    > => ((await (await fetch(`${rig.url}/admin/v1/sessions`)).json()) as { data: never[] }).data;
    const end = async (id: string): Promise<unknown> =>
      (await fetch(`${rig.url}/admin/v1/sessions/${id}/end`, { method: 'POST' })).json();
    const lost = await speaking('gone ');
    const client = await speaking('last words');
    await until(() => streamsInUse(rig) === 2);
    lost.drop();
    await until(async () => (await list()).some(({ state }) => state === 'detached'));
    const [first, second] = await list();
    expect([first?.state, second?.state, second?.streaming]).toEqual([
      'detached',
      'attached',
      true,
    ]);
    expect(second?.audio_seconds).toBeCloseTo(10 / 32_000);
    expect(await end(second!.id)).toEqual({ session_id: second!.id, ended: true });
    expect(client.transcripts()).toEqual([heardIn('last words')]);
    expect((await client.closed).code).toBe(1008);
    expect(await end(second!.id)).toEqual({ session_id: second!.id, ended: false });
    expect((await list()).map(({ id }) => id)).toEqual([first!.id]);
  });
});

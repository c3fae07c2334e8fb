import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ModelCatalog } from '../../../src/gateway/models/model-catalog.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { builtLaunch, type GatewayRig, until } from '../api/gateway-rig.js';
import { heardIn, realtimeRig, signalWorker, streamsInUse } from './realtime-rig.js';

const FAULTS = [{ marker: 'unspeakable', action: 'fail' }];

let rig: GatewayRig;
afterEach(() => rig.close());

describe('an engine that fails without dying', () => {
  it('costs the utterance: failed with its reason, not said again, and the session goes on', async () => {
    rig = await realtimeRig({ engine: { faults: FAULTS } });
    const client = await RealtimeClient.synthetic(rig.url);
    for (const frame of ['this ', 'goes ', 'well']) client.say(frame);
    await client.next(`${TRANSCRIPTION}.delta`);
    client.say('unspeakable ');
    const failed = await client.next(`${TRANSCRIPTION}.failed`);
    expect(failed.error).toMatchObject({ code: 'engine_failed' });
    client.say('better');
    client.commit();
    expect((await client.next(`${TRANSCRIPTION}.completed`)).transcript).toBe(heardIn('better'));
    expect(client.types().filter(type => type === 'error' || type === 'session.warning')).toEqual(
      [],
    );
    client.socket.close(1000);
  });

  it('before the first word warns; the fourth time in a row ends it: an error, 1011, no stream left', async () => {
    rig = await realtimeRig({ engine: { faults: FAULTS } });
    const client = await RealtimeClient.synthetic(rig.url);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      client.say('unspeakable ');
      expect((await client.next('session.warning')).warning.code).toBe('audio_lost');
    }
    client.say('unspeakable ');
    expect((await client.next('error')).error.code).toBe('engine_failed');
    expect((await client.closed).code).toBe(1011);
    await until(() => streamsInUse(rig) === 0);
  });
});

describe('a defect of the gateway', () => {
  it('ends its session with internal_error and 1011, hides its cause, and leaves other sessions alone', async () => {
    rig = await realtimeRig();
    const other = await RealtimeClient.synthetic(rig.url);
    other.say('one ');
    await until(() => streamsInUse(rig) === 1);
    const client = await RealtimeClient.synthetic(rig.url);
    const defect = jest.spyOn(rig.app.get(ModelCatalog), 'getOfKind').mockImplementation(() => {
      throw new TypeError('cannot read properties of undefined');
    });
    client.say('hello');
    expect((await client.next('error')).error).toMatchObject({
      ...{ type: 'server_error', code: 'internal_error' },
      message: expect.not.stringContaining('undefined'),
    });
    expect((await client.closed).code).toBe(1011);
    defect.mockRestore();
    other.say('two ');
    other.commit();
    expect((await other.next(`${TRANSCRIPTION}.completed`)).transcript).toBe(heardIn('one two '));
    other.socket.close(1000);
  });
});

describe('a session that is set anew while its worker dies', () => {
  it('loses nothing: the new stream hears what the old one could not finish', async () => {
    rig = await realtimeRig({ launch: builtLaunch });
    const client = await RealtimeClient.synthetic(rig.url);
    for (const frame of ['be', 'fo', 're']) client.say(frame);
    await client.next(`${TRANSCRIPTION}.delta`);
    // It can no longer answer the end of its stream.
    signalWorker(rig, 'SIGSTOP');
    client.update({ transcription: { language: 'en' } });
    await client.next('session.updated');
    client.say('after ');
    client.commit();
    await client.next('input_audio_buffer.committed');
    signalWorker(rig, 'SIGKILL');
    await client.next(`${TRANSCRIPTION}.completed`);
    expect(client.transcripts()).toEqual([heardIn('beforeafter ')]);
    expect(client.types().filter(type => type === 'session.warning')).toHaveLength(1);
    expect(client.types()).not.toContain('error');
    client.socket.close(1000);
    await client.closed;
    await until(() => streamsInUse(rig) === 0);
  });
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { handshakeStatus, RealtimeClient } from '../../support/realtime-client.js';
import { errorOf, GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';

const MODELS = [
  sttModel({ capabilities: ['transcribe', 'stream'] }),
  sttModel({
    id: 'able',
    aliases: [],
    capabilities: ['transcribe', 'stream', 'prompt'],
  }),
];

let folder: KeysFolder;
let rig: GatewayRig;
let key: string;
let events: string;
beforeAll(async () => {
  folder = new KeysFolder();
  key = folder.add('acme', 'inference');
  events = folder.add('acme', 'events');
  rig = await GatewayRig.start({
    models: MODELS,
    settings: { 'auth.keys_file': folder.file },
  });
});
afterAll(() => rig.close());

const opening = (headers: Record<string, string>, protocols?: string[]): Promise<number> =>
  handshakeStatus(rig.url, headers, protocols);

describe('where keys are asked for, a live session', () => {
  it('opens with a key that may use models, and with no other', async () => {
    expect(await opening(bearer(key))).toBe(101);
    expect(await opening({})).toBe(401);
    expect(await opening(bearer('sk-wrong'))).toBe(401);
    expect(await opening(bearer(events))).toBe(403);
  });

  it('recognises with the models of its key only, whatever the session names later', async () => {
    const admin = folder.add('ops', 'admin');
    process.emit('SIGHUP');
    const body = { name: 'n', tenant: 'acme', models: ['stt'] };
    const issued = await rig.post('/admin/v1/keys', body, { headers: bearer(admin) });
    const { secret } = (await issued.json()) as { secret: string };
    const client = await RealtimeClient.open(rig.url, {}, { headers: bearer(secret) });
    client.update({ transcription: { model: 'able' }, turn_detection: null });
    const { error } = await client.next('error');
    expect(error).toMatchObject({
      code: 'model_not_found',
      message: 'The model `able` does not exist; available: stt (whisper-1).',
    });
    client.socket.close(1000);
  });

  it('opens with a short-lived token as a browser passes it, which opens nothing else', async () => {
    const answer = await rig.post('/v1/realtime/client_secrets', {}, { headers: bearer(key) });
    const { value } = (await answer.json()) as { value: string };
    expect(await opening({}, ['realtime', `openai-insecure-api-key.${value}`])).toBe(101);
    expect((await fetch(`${rig.url}/v1/models`, { headers: bearer(value) })).status).toBe(403);
  });

  it('never repeats the key as the chosen subprotocol', async () => {
    const client = new WebSocket(`${rig.url.replace('http', 'ws')}/v1/realtime`, [
      'realtime',
      `openai-insecure-api-key.${key}`,
    ]);
    await new Promise(open => client.once('open', open));
    expect(client.protocol).toBe('realtime');
    client.close(1000);
  });

  it('is not resumed by another tenant, whatever it knows', async () => {
    const client = await RealtimeClient.open(rig.url, {}, { headers: bearer(key) });
    const { session } = await client.next('session.created');
    const other = { headers: bearer(folder.add('other', 'inference')) };
    process.emit('SIGHUP');
    const query = {
      session_id: String(session.id),
      session_secret: String(session.resume.secret),
    };
    const stranger = await RealtimeClient.open(rig.url, query, other);
    expect((await stranger.next('error')).error.code).toBe('session_not_found');
    const owner = await RealtimeClient.open(rig.url, query, { headers: bearer(key) });
    await owner.next('session.resumed');
    owner.socket.close(1000);
  });

  it('ends with the key it was opened with, directly or by a token, also while nobody is connected', async () => {
    const before = await readFile(folder.file, 'utf8');
    const late = { headers: bearer(folder.add('acme', 'inference')) };
    process.emit('SIGHUP');
    const answer = await rig.post('/v1/realtime/client_secrets', {}, late);
    const { value } = (await answer.json()) as { value: string };
    const [staying, direct, byToken, away] = await Promise.all(
      [{ headers: bearer(key) }, late, { headers: bearer(value) }, late].map(how =>
        RealtimeClient.open(rig.url, {}, how),
      ),
    );
    const { session } = await away!.next('session.created');
    away!.drop();
    await away!.closed;
    await writeFile(folder.file, before);
    process.emit('SIGHUP');
    for (const client of [direct!, byToken!]) {
      expect((await client.next('error')).error.code).toBe('invalid_api_key');
      expect((await client.closed).code).toBe(1008);
    }
    const query = {
      session_id: String(session.id),
      session_secret: String(session.resume.secret),
    };
    const back = await RealtimeClient.open(rig.url, query, { headers: bearer(key) });
    expect((await back.next('error')).error.code).toBe('session_not_found');
    staying!.send({ type: 'input_audio_buffer.clear' });
    await staying!.next('input_audio_buffer.cleared');
    staying!.socket.close(1000);
  });
});

describe('a short-lived token', () => {
  const wish = {
    type: 'transcription',
    audio: { input: { format: { type: 'audio/pcmu' }, turn_detection: null } },
  };

  it('carries the settings of its sessions to any gateway that signs with the same secret', async () => {
    const secretFile = join(folder.folder, 'token-secret');
    await writeFile(secretFile, 'x'.repeat(40));
    const settings = {
      'auth.keys_file': folder.file,
      'auth.token_secret_file': secretFile,
    };
    await rig.close();
    rig = await GatewayRig.start({ models: MODELS, settings });
    const answer = await rig.post(
      '/v1/realtime/client_secrets',
      { session: wish },
      { headers: bearer(key) },
    );
    const { value } = (await answer.json()) as { value: string };
    await rig.close();
    rig = await GatewayRig.start({ models: MODELS, settings });
    const client = await RealtimeClient.open(rig.url, {}, { headers: bearer(value) });
    expect((await client.next('session.created')).session.audio.input).toMatchObject({
      format: { type: 'audio/pcmu' },
      turn_detection: null,
    });
    client.socket.close(1000);
  });

  it('has no room for long settings: 400 that says so', async () => {
    const transcription = { model: 'able', prompt: 'x'.repeat(3500) };
    const session = { type: 'transcription', audio: { input: { transcription } } };
    const refused = await errorOf(
      rig.post('/v1/realtime/client_secrets', { session }, { headers: bearer(key) }),
    );
    expect(refused).toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'session',
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { RealtimeClient } from '../../support/realtime-client.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';

let folder: KeysFolder;
let rig: GatewayRig;
let key: string;
let events: string;
beforeAll(async () => {
  folder = await KeysFolder.create();
  key = folder.add('acme', 'inference');
  events = folder.add('acme', 'events');
  const models = [sttModel({ capabilities: ['transcribe', 'stream'] })];
  rig = await GatewayRig.start({ models, settings: { 'auth.keys_file': folder.file } });
});
afterAll(async () => {
  await rig.close();
  await folder.remove();
});

/** 101, or the status the opening request is refused with. */
function opening(headers: Record<string, string>, protocols: string[] = []): Promise<number> {
  const socket = new WebSocket(`${rig.url.replace('http', 'ws')}/v1/realtime`, protocols, { headers });
  return new Promise(resolve => {
    socket.on('error', () => undefined);
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.on('open', () => {
      resolve(101);
      socket.close(1000);
    });
  });
}

describe('where keys are asked for, a live session', () => {
  it('opens with a key that may use models, and with no other', async () => {
    expect(await opening(bearer(key))).toBe(101);
    expect(await opening({})).toBe(401);
    expect(await opening(bearer('sk-wrong'))).toBe(401);
    expect(await opening(bearer(events))).toBe(403);
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

  it('is resumed by its own secret only', async () => {
    const client = await RealtimeClient.open(rig.url, {}, { headers: bearer(key) });
    const { session } = await client.next('session.created');
    const query = { session_id: String(session.id), session_secret: 'x'.repeat(32) };
    const stranger = await RealtimeClient.open(rig.url, query, { headers: bearer(key) });
    expect((await stranger.closed).code).toBe(1008);
    client.socket.close(1000);
  });
});

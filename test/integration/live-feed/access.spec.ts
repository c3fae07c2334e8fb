import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { io } from 'socket.io-client';
import { LIVE_PATH } from '../../../src/contracts/events/live-event.js';
import { Authenticator } from '../../../src/platform/auth/authenticator.js';
import { type Scope } from '../../../src/platform/auth/principal.js';
import { ShortLivedTokens } from '../../../src/platform/auth/short-lived-tokens.js';
import { formOf } from '../../support/form-of.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';
import { FeedClient } from './feed-client.js';

let rig: GatewayRig;
let folder: KeysFolder;
const keys = { inference: '', events: '', admin: '', acme: '', other: '' };

beforeAll(async () => {
  folder = new KeysFolder();
  keys.inference = folder.add('acme', 'inference');
  keys.events = folder.add('acme', 'events');
  keys.admin = folder.add('ops', 'admin');
  keys.acme = folder.add('acme', 'inference', 'events');
  keys.other = folder.add('other', 'inference', 'events');
  // No worker: what is sent waits.
  rig = await GatewayRig.start({
    models: [sttModel()],
    settings: { 'auth.keys_file': folder.file },
  });
});
afterAll(() => rig.close());

const refusal = async (token?: string) => {
  try {
    (await FeedClient.connect(rig.url, token))[Symbol.dispose]();
    return undefined;
  } catch (error) {
    return (error as { data?: { error?: { code?: string } } }).data?.error?.code;
  }
};

const send = (id: string, key: string) =>
  rig.post('/v1/audio/transcriptions', formOf({ model: 'stt' }), {
    headers: { ...bearer(key), 'x-request-id': id },
  });

const tokenFor = async (scopes: readonly Scope[], ttlS: number) => {
  const authenticator = rig.app.get(Authenticator);
  const principal = await authenticator.authenticate(keys.acme);
  return rig.app.get(ShortLivedTokens).mint({ principal, scopes, ttlS }).token;
};

describe('at the limit of 1000 clients', () => {
  it('a tenant that holds them all is refused, and gives a place to another one', async () => {
    const clients: FeedClient[] = [];
    while (clients.length < 1000) {
      const hundred = Array.from({ length: 100 }, () => FeedClient.connect(rig.url, keys.acme));
      clients.push(...(await Promise.all(hundred)));
    }
    expect(await refusal(keys.acme)).toBe('live_feed_limit');
    using _other = await FeedClient.connect(rig.url, keys.other);
    await until(() => clients.some(({ socket }) => !socket.connected));
    expect(await refusal(keys.acme)).toBe('live_feed_limit');
    for (const client of clients) client[Symbol.dispose]();
    await until(async () => (await refusal(keys.acme)) === undefined);
  });
});

describe('who may listen', () => {
  it('is cut off without a key, also when it never answers the close frame', async () => {
    const socket = connect(rig.port, '127.0.0.1');
    const closed = once(socket.resume(), 'close');
    socket.write(
      `GET ${LIVE_PATH}?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nConnection: Upgrade\r\n` +
        'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    // `ws` alone would hold it for 35 s, which is beyond the limit of this test.
    await closed;
  }, 25_000);

  it('needs a key with the scope events or admin', async () => {
    expect(await refusal()).toBe('invalid_api_key');
    expect(await refusal('sk-wrong')).toBe('invalid_api_key');
    expect(await refusal(keys.inference)).toBe('missing_scope');
    expect(await refusal(keys.events)).toBeUndefined();
    expect(await refusal(keys.admin)).toBeUndefined();
  });

  it('may bring the key as a header, or a short-lived token that was given the scope', async () => {
    (await FeedClient.connect(rig.url, undefined, bearer(keys.events)))[Symbol.dispose]();
    expect(await refusal(await tokenFor(['events'], 60))).toBeUndefined();
    expect(await refusal(await tokenFor(['events'], 0))).toBe('invalid_api_key');
    expect(await refusal(await tokenFor(['realtime'], 60))).toBe('missing_scope');
  });

  it("hears of its tenant's requests only; others look as if they did not exist; an admin hears of all", async () => {
    using acme = await FeedClient.connect(rig.url, keys.acme);
    using other = await FeedClient.connect(rig.url, keys.other);
    using admin = await FeedClient.connect(rig.url, keys.admin);
    for (const client of [acme, other, admin]) await client.join('request:r1');
    const answer = send('r1', keys.acme);
    await until(
      () => acme.request('r1')?.state === 'queued' && admin.request('r1')?.state === 'queued',
    );
    expect(await other.join('request:r1')).toMatchObject({
      found: false,
      snapshots: [],
    });
    expect(await other.sync('request:r1')).toMatchObject({
      found: false,
      snapshots: [],
    });
    await rig.post('/v1/requests/r1/cancel', {}, { headers: bearer(keys.acme) });
    await until(() => acme.request('r1')?.state === 'cancelled');
    expect(acme.request('r1')).toMatchObject({
      cancel_reason: 'client',
      code: 'request_cancelled',
    });
    expect([other.deltas, other.snapshots]).toEqual([[], []]);
    expect((await answer).status).toBe(499);
  });

  it.each(['/events', '/'])(
    'learns at %s why a client that begins with polling is not connected',
    async namespace => {
      const socket = io(rig.url + namespace, {
        path: LIVE_PATH,
        reconnection: false,
        forceNew: true,
      });
      const error = await new Promise<Error>(resolve => socket.once('connect_error', resolve));
      socket.disconnect();
      expect(error.message).toContain('`transports: ["websocket"]`');
    },
  );

  it('is put out when its key is withdrawn', async () => {
    const before = await readFile(folder.file, 'utf8');
    const late = folder.add('late', 'events');
    process.emit('SIGHUP');
    using staying = await FeedClient.connect(rig.url, keys.admin);
    using leaving = await FeedClient.connect(rig.url, late);
    const gone = new Promise(resolve => leaving.socket.once('disconnect', resolve));
    await writeFile(folder.file, before);
    process.emit('SIGHUP');
    expect(await gone).toBe('io server disconnect');
    expect(staying.socket.connected).toBe(true);
  });
});

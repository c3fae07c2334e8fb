import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayRig, until } from './gateway-rig.js';
import { sttModel } from './models.js';
import { filePartHead, multipartHead, RawHttp } from './raw-http.js';

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start({
    models: [sttModel({ capabilities: ['transcribe', 'stream'] })],
    settings: {
      'limits.concurrent_requests': 2,
      'realtime.resume_window_ms': 0,
      'server.body_timeout_ms': 200,
    },
  });
});
afterAll(() => rig.close());

const key = (): string => `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`;

const upgradeTo = (path: string, ...more: readonly string[]): string[] => [
  `GET ${path} HTTP/1.1`,
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  ...more,
  '',
  '',
];

/** Never closes its own side. */
async function sent(...lines: readonly string[]): Promise<RawHttp> {
  const raw = await RawHttp.open(rig.port, { allowHalfOpen: true });
  raw.send(...lines);
  return raw;
}

describe('a connection whose peer never closes its side', () => {
  const refused: readonly [name: string, status: number, lines: readonly string[]][] = [
    ['a WebSocket to no route', 404, upgradeTo('/x', key(), 'Sec-WebSocket-Version: 13')],
    [
      'a live session without Sec-WebSocket-Key',
      400,
      upgradeTo('/v1/realtime', 'Sec-WebSocket-Version: 13'),
    ],
    [
      'a live session of another version',
      400,
      upgradeTo('/v1/realtime', key(), 'Sec-WebSocket-Version: 7'),
    ],
    [
      'the live feed without Sec-WebSocket-Key',
      400,
      upgradeTo('/events/?EIO=4&transport=websocket'),
    ],
    [
      'a live session with subprotocols that cannot be read',
      400,
      upgradeTo('/v1/realtime', key(), 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Protocol: a,,b'),
    ],
    ['bytes that are no HTTP', 400, ['BROKEN', '', '']],
  ];

  it('is answered in the envelope and closed by the server: refused upgrades, broken HTTP', async () => {
    for (const [name, status, lines] of refused) {
      const answer = await (await sent(...lines)).answer(true);
      expect([name, answer.status]).toEqual([name, status]);
      expect(JSON.parse(answer.body)).toMatchObject({
        error: { type: 'invalid_request_error' },
      });
    }
    await until(() => rig.connections.size === 0);
  });

  it('is closed also when it goes on sending', async () => {
    const raw = await sent(...upgradeTo('/x', key(), 'Sec-WebSocket-Version: 13'));
    const noise = setInterval(() => raw.socket.write('noise'), 5);
    expect((await raw.answer()).status).toBe(404);
    await until(() => rig.connections.size === 0);
    clearInterval(noise);
  });
});

describe('a malformed upgrade to /v1/realtime', () => {
  it('holds no place of `limits.concurrent_requests`: 2 places serve after 20 of them', async () => {
    const broken = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        sent(...upgradeTo('/v1/realtime', ...(index % 2 ? [] : ['Sec-WebSocket-Key: short']))),
      ),
    );
    for (const raw of broken) raw.socket.end();
    await until(() => rig.connections.size === 0);
    const places = await Promise.all(
      [1, 2].map(() => sent(...upgradeTo('/v1/realtime', key(), 'Sec-WebSocket-Version: 13'))),
    );
    for (const raw of places) expect((await raw.head()).status).toBe(101);
    for (const raw of places) raw.socket.destroy();
  });

  it('returns its place when the peer has closed its side meanwhile', async () => {
    await until(() => rig.connections.size === 0);
    for (let turn = 0; turn < 10; turn++) {
      const raw = await sent(...upgradeTo('/v1/realtime', key(), 'Sec-WebSocket-Version: 13'));
      raw.socket.end();
      await raw.answer(true);
    }
    await until(() => rig.connections.size === 0);
    const init = { headers: { connection: 'close' } };
    expect((await rig.post('/v1/audio/transcriptions', new FormData(), init)).status).toBe(400);
  });
});

describe('a request body that stalls', () => {
  const head = multipartHead('Content-Length: 1000000');

  it.each([
    ['silent from its first byte on', head],
    ['silent in the middle', [...head, filePartHead() + 'x'.repeat(5000)]],
  ])(
    '%s is ended with 408, which may be sent again, and its connection closed',
    async (_name, lines) => {
      const raw = await sent(...lines);
      const answer = await raw.answer(true);
      expect([answer.status, answer.closed]).toEqual([408, true]);
      expect(answer.head).toContain('x-should-retry: true');
      expect(JSON.parse(answer.body)).toMatchObject({
        error: { type: 'invalid_request_error' },
      });
      await until(() => rig.connections.size === 0);
    },
  );

  it('by a byte now and then is ended too', async () => {
    const raw = await sent(...head, filePartHead());
    const drip = setInterval(() => raw.socket.write('x'), 20);
    expect((await raw.answer(true)).status).toBe(408);
    clearInterval(drip);
  });
});

describe('the end of the server', () => {
  it('does not wait for connections that their peers hold open', async () => {
    await Promise.all([
      sent(...upgradeTo('/x', key(), 'Sec-WebSocket-Version: 13')),
      sent(...upgradeTo('/v1/realtime', 'Sec-WebSocket-Version: 13')),
      sent(...upgradeTo('/v1/realtime', key(), 'Sec-WebSocket-Version: 13')),
      sent(...upgradeTo('/events/?EIO=4&transport=websocket', key(), 'Sec-WebSocket-Version: 13')),
      sent('BROKEN', '', ''),
      sent(''),
      sent(...multipartHead('Content-Length: 1000000')),
    ]);
    await rig.app.close();
    await until(() => rig.connections.size === 0);
  });
});

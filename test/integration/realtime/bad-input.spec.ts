import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { errorOf, type GatewayRig, until } from '../api/gateway-rig.js';
import { heardIn, realtimeRig } from './realtime-rig.js';

let rig: GatewayRig;
beforeAll(async () => {
  rig = await realtimeRig({
    streams: 1,
    settings: { 'realtime.max_message_bytes': 65_536 },
  });
});
afterAll(() => rig.close());

const freeStream = () =>
  until(() => rig.pool.workers().every(({ streamsInUse }) => streamsInUse === 0));
const update = (input: object) => ({
  type: 'session.update',
  session: { type: 'transcription', audio: { input } },
});
const respond = (response: object) => ({ type: 'response.create', response });

describe('bad input is answered and the session goes on', () => {
  let client: RealtimeClient;
  beforeAll(async () => {
    client = await RealtimeClient.synthetic(rig.url);
  });
  afterAll(async () => {
    client.socket.close(1000);
    await freeStream();
  });

  it.each<[string, object | string, string, string | null]>([
    ['no JSON', 'hello', 'invalid_json', null],
    ['an array', '[]', 'invalid_value', ''],
    ['no type', { a: 1 }, 'missing_required_parameter', 'type'],
    ['an unknown type', { type: 'session.destroy' }, 'invalid_value', 'type'],
    [
      'an unknown field',
      { type: 'input_audio_buffer.commit', now: true },
      'unknown_parameter',
      'now',
    ],
    ['no audio', { type: 'input_audio_buffer.append' }, 'missing_required_parameter', 'audio'],
    [
      'audio that is not base64',
      { type: 'input_audio_buffer.append', audio: '§§§§' },
      'invalid_value',
      'audio',
    ],
    [
      'a commit of nothing',
      { type: 'input_audio_buffer.commit' },
      'input_audio_buffer_commit_empty',
      null,
    ],
    ['no session', { type: 'session.update' }, 'missing_required_parameter', 'session'],
    [
      'no session type',
      { type: 'session.update', session: {} },
      'missing_required_parameter',
      'session.type',
    ],
    [
      '11 kHz',
      update({ format: { type: 'audio/pcm', rate: 11_025 } }),
      'invalid_value',
      'session.audio.input.format.rate',
    ],
    ['an unknown setting', update({ echo: 1 }), 'unknown_parameter', 'session.audio.input.echo'],
    [
      'a threshold of 2',
      update({ turn_detection: { type: 'server_vad', threshold: 2 } }),
      'invalid_value',
      'session.audio.input.turn_detection.threshold',
    ],
    [
      'an unknown model',
      update({ transcription: { model: 'nope' } }),
      'model_not_found',
      'session.audio.input.transcription.model',
    ],
    [
      'no transcription',
      update({ transcription: null }),
      'unsupported_parameter',
      'session.audio.input.transcription',
    ],
    [
      'nothing to speak',
      { type: 'response.create' },
      'missing_required_parameter',
      'response.input',
    ],
    [
      'instructions',
      respond({ instructions: 'be nice' }),
      'unsupported_parameter',
      'response.instructions',
    ],
    ['nothing to cancel', { type: 'response.cancel' }, 'response_cancel_not_active', 'response_id'],
  ])('%s', async (_what, event, code, param) => {
    const named =
      typeof event === 'string'
        ? event
        : { ...event, ...(!Array.isArray(event) && { event_id: 'mine' }) };
    client.send(named);
    const { error } = await client.next('error');
    expect(error).toMatchObject({
      code,
      param,
      event_id: typeof event === 'string' ? null : 'mine',
    });
    expect(error.message).not.toBe('');
  });

  it.each<[string, object, string]>([
    ['noise reduction', { noise_reduction: { type: 'near_field' } }, 'noise_reduction'],
    ['semantic turns', { turn_detection: { type: 'semantic_vad' } }, 'turn_detection.type'],
    [
      'a prompt the model cannot use',
      { transcription: { prompt: 'names' } },
      'transcription.prompt',
    ],
    [
      'languages of which none can be singled out',
      { transcription: { languages: ['en', 'de'] } },
      'transcription.languages',
    ],
  ])('%s only advises: accepted, and named in a warning', async (_what, input, param) => {
    client.send(update({ turn_detection: null, ...input }));
    await client.next('session.updated');
    const { warning } = await client.next('session.warning');
    expect(warning).toMatchObject({
      code: 'fields_ignored',
      params: [`session.audio.input.${param}`],
    });
    client.send(update({ turn_detection: null }));
    await client.next('session.updated');
  });

  it('applies nothing of an update that is refused in part', async () => {
    client.send(update({ format: { type: 'audio/pcmu' }, transcription: { model: 'nope' } }));
    await client.next('error');
    client.say('still sixteen ');
    client.commit();
    expect((await client.next(`${TRANSCRIPTION}.completed`)).transcript).toBe(
      heardIn('still sixteen '),
    );
  });

  it('does not change the format of audio that has begun', async () => {
    client.send(update({ format: { type: 'audio/pcmu' } }));
    expect((await client.next('error')).error).toMatchObject({
      param: 'session.audio.input.format',
    });
  });
});

describe('abuse closes, with the right code', () => {
  it.each<[string, (client: RealtimeClient) => void, number]>([
    ['a container instead of raw audio', client => client.say('RIFF....WAVEfmt '), 1003],
    [
      'a container in an event',
      client => {
        const audio = Buffer.from([0x1a, 0x45, 0xdf, 0xa3, ...Buffer.alloc(64)]).toString('base64');
        client.send({ type: 'input_audio_buffer.append', audio });
      },
      1003,
    ],
    [
      'text that is not UTF-8',
      client => client.socket.send(Buffer.from([0xff, 0xfe, 0xfd]), { binary: false }),
      1007,
    ],
    ['a message of 64 KiB and one byte', client => client.say(Buffer.alloc(65_537)), 1009],
    ['a flood of bad events', client => Array.from({ length: 101 }, () => client.send('?')), 1008],
  ])('%s', async (_what, act, code) => {
    const client = await RealtimeClient.synthetic(rig.url);
    act(client);
    expect((await client.closed).code).toBe(code);
  });

  it('a session without a free stream is told to try again: 1013', async () => {
    const first = await RealtimeClient.synthetic(rig.url);
    for (const frame of ['mine ', 'is ', 'this']) first.say(frame);
    await first.next(`${TRANSCRIPTION}.delta`);
    const second = await RealtimeClient.synthetic(rig.url);
    second.say('and mine?');
    expect((await second.next('error')).error).toMatchObject({
      code: 'queue_full',
      retry_after_ms: 1000,
    });
    expect((await second.closed).code).toBe(1013);
    first.socket.close(1000);
    await freeStream();
  });

  it.each([
    [{ model: 'nope' }, 'model_not_found'],
    [{ intent: 'conversation' }, 'invalid_value'],
    [{ session_id: 'sess_none', session_secret: 'x' }, 'session_not_found'],
    [{ session_id: 'sess_none' }, 'missing_required_parameter'],
  ])('%j is refused in words, then with 1008', async (query, code) => {
    const client = await RealtimeClient.open(rig.url, query);
    expect((await client.next('error')).error.code).toBe(code);
    expect((await client.closed).code).toBe(1008);
  });

  it('an unknown path is 404, a page of another origin 403, before any WebSocket', async () => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
    };
    const open = (path: string, more = {}) =>
      errorOfUpgrade(rig.port, path, {
        ...headers,
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        ...more,
      });
    expect(await open('/v1/elsewhere')).toEqual([404, 'unknown_url']);
    expect(await open('/v1/realtime', { origin: 'https://evil.example' })).toEqual([
      403,
      'origin_not_allowed',
    ]);
  });

  it('plain HTTP to the socket’s path is an ordinary 404', async () => {
    expect((await errorOf(fetch(`${rig.url}/v1/realtime`))).code).toBe('unknown_url');
  });
});

async function errorOfUpgrade(
  port: number,
  path: string,
  headers: Record<string, string>,
): Promise<[number, string]> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, headers });
    sent.on('response', response => {
      response.setEncoding('utf8').once('data', (body: string) => {
        const { error } = JSON.parse(body) as { error: { code: string } };
        resolve([response.statusCode ?? 0, error.code]);
      });
    });
    sent.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve([101, '']);
    });
    sent.on('error', reject);
    sent.end();
  });
}

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { OpenAIRealtimeWS as BetaRealtimeWS } from 'openai/beta/realtime/ws';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { openaiAt } from '../../support/openai-at.js';
import { TlsFront } from '../../support/tls-front.js';
import { type GatewayRig } from '../api/gateway-rig.js';
import { heardIn, realtimeRig } from './realtime-rig.js';

/**
 * 300 ms of text at 24 kHz would be resampled; G.711 silence is as good: only its length
 * is looked at.
 */
const AUDIO = Buffer.alloc(8000, 0xff).toString('base64');

let rig: GatewayRig;
let front: TlsFront;
let openai: OpenAI;
beforeAll(async () => {
  rig = await realtimeRig();
  front = await TlsFront.start(rig.port);
  openai = openaiAt(`https://127.0.0.1:${front.port}`);
});
afterAll(async () => {
  await front[Symbol.asyncDispose]();
  await rig.close();
});

const options = { rejectUnauthorized: false };

/**
 * Every event of the session until the transcript is complete; rejects with the
 * first error event.
 */
function transcribed(
  rt: OpenAIRealtimeWS,
  start: () => void,
): Promise<{ types: string[]; transcript: string; seconds: number }> {
  return new Promise((resolve, reject) => {
    const types: string[] = [];
    rt.on('error', reject);
    rt.on('event', event => types.push(event.type));
    rt.on('session.created', start);
    rt.on('conversation.item.input_audio_transcription.completed', ({ transcript, usage }) => {
      rt.close();
      resolve({
        types,
        transcript,
        seconds: usage.type === 'duration' ? usage.seconds : NaN,
      });
    });
  });
}

describe('the official openai SDK, unchanged', () => {
  it.each([{ intent: 'transcription' as const }, { model: 'whisper-1' }])(
    'GA session with %j',
    async target => {
      const rt = new OpenAIRealtimeWS({ ...target, options }, openai);
      const { types, transcript, seconds } = await transcribed(rt, () => {
        const input = {
          format: { type: 'audio/pcmu' as const },
          transcription: { model: 'whisper-1', language: 'en' },
          turn_detection: null,
        };
        rt.send({
          type: 'session.update',
          session: { type: 'transcription', audio: { input } },
        });
        rt.send({ type: 'input_audio_buffer.append', audio: AUDIO });
        rt.send({ type: 'input_audio_buffer.commit' });
      });
      expect(transcript).toMatch(/^synthetic transcript /);
      expect(seconds).toBeCloseTo(1, 1);
      expect(types).toEqual(
        expect.arrayContaining([
          'session.updated',
          'input_audio_buffer.committed',
          'conversation.item.added',
        ]),
      );
    },
  );

  it('older dialect', async () => {
    const rt = new BetaRealtimeWS({ model: 'whisper-1', options }, openai);
    const types: string[] = [];
    const transcript = await new Promise<string>((resolve, reject) => {
      rt.on('error', reject);
      rt.on('event', event => types.push(event.type));
      rt.on('session.created', () => {
        const session = {
          input_audio_format: 'g711_ulaw' as const,
          turn_detection: null as never,
        };
        rt.send({ type: 'transcription_session.update', session });
        rt.send({ type: 'input_audio_buffer.append', audio: AUDIO });
        rt.send({ type: 'input_audio_buffer.commit' });
      });
      rt.on('conversation.item.input_audio_transcription.completed', event =>
        resolve(event.transcript),
      );
    });
    rt.close();
    expect(transcript).toMatch(/^synthetic transcript /);
    expect(types).toContain('conversation.item.created');
    expect(types).toContain('transcription_session.updated');
  });

  it('reports a mistake through its error listener, naming the event', async () => {
    const rt = new OpenAIRealtimeWS({ intent: 'transcription', options }, openai);
    const error = await new Promise<{
      error?: { code?: string | null; event_id?: string | null };
    }>(resolve => {
      rt.on('error', resolve);
      rt.on('session.created', () =>
        rt.send({ type: 'input_audio_buffer.commit', event_id: 'mine' }),
      );
    });
    rt.close();
    expect(error.error).toMatchObject({
      code: 'input_audio_buffer_commit_empty',
      event_id: 'mine',
    });
  });
});

describe('short-lived tokens', () => {
  const plain = () => openaiAt(rig.url);

  it('come with the settings their sessions begin with', async () => {
    const format = { type: 'audio/pcm' as const, rate: 16_000 as never };
    const secret = await plain().realtime.clientSecrets.create({
      expires_after: { anchor: 'created_at', seconds: 60 },
      session: {
        type: 'transcription',
        audio: { input: { format, turn_detection: null } },
      },
    });
    expect(secret).toMatchObject({
      value: expect.stringMatching(/^ek_/),
      session: { type: 'transcription' },
    });
    const client = new OpenAI({ baseURL: openai.baseURL, apiKey: secret.value });
    const rt = new OpenAIRealtimeWS({ intent: 'transcription', options }, client);
    const { transcript } = await transcribed(rt, () => {
      rt.send({
        type: 'input_audio_buffer.append',
        audio: Buffer.from('as set before').toString('base64'),
      });
      rt.send({
        type: 'input_audio_buffer.append',
        audio: Buffer.from('!').toString('base64'),
      });
      rt.send({ type: 'input_audio_buffer.commit' });
    });
    expect(transcript).toBe(heardIn('as set before!'));
  });

  it('exist in the older dialect, too', async () => {
    const session = await plain().beta.realtime.transcriptionSessions.create({
      input_audio_format: 'g711_alaw',
    });
    expect(session).toMatchObject({
      input_audio_format: 'g711_alaw',
      client_secret: { value: expect.any(String) },
    });
  });

  it.each([
    [{ expires_after: { seconds: 5 } }, 'expires_after.seconds'],
    [
      {
        session: {
          type: 'transcription',
          audio: { input: { format: { type: 'mp3' } } },
        },
      },
      'session.audio.input.format.type',
    ],
  ])('refuse %j', async (body, param) => {
    await expect(plain().realtime.clientSecrets.create(body as never)).rejects.toMatchObject({
      status: 400,
      param,
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { openaiAt } from '../support/openai-at.js';
import { TlsFront } from '../support/tls-front.js';
import { embeddedProduct } from './products.js';

/** A second of silence in G.711. */
const AUDIO = Buffer.alloc(8000, 0xff).toString('base64');

describe('a live session, by the official OpenAI SDK', () => {
  // The SDK speaks wss alone.
  let front: TlsFront;
  beforeAll(async () => {
    front = await TlsFront.start((await embeddedProduct()).gateway.port);
  });
  afterAll(async () => front[Symbol.asyncDispose]());

  it('transcribes what is said', async () => {
    const client = openaiAt(`https://127.0.0.1:${front.port}`);
    const rt = new OpenAIRealtimeWS(
      { model: 'whisper-1', options: { rejectUnauthorized: false } },
      client,
    );
    const transcript = new Promise<string>((resolve, reject) => {
      rt.on('error', reject);
      rt.on('conversation.item.input_audio_transcription.completed', event =>
        resolve(event.transcript),
      );
    });
    rt.on('session.created', () => {
      const input = { format: { type: 'audio/pcmu' as const }, turn_detection: null };
      rt.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
      rt.send({ type: 'input_audio_buffer.append', audio: AUDIO });
      rt.send({ type: 'input_audio_buffer.commit' });
    });
    expect(await transcript).toContain('synthetic transcript');
    rt.close();
  });
});

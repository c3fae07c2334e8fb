import { wavSamples } from '../../support/real-models.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';

/**
 * Of one request; `deviceMs`: as the gateway tells it in Server-Timing. The head of a stream
 * of speech goes out before it is known.
 */
export interface Spent {
  readonly ms: number;
  readonly deviceMs: number | undefined;
}

export function hear(url: string, clip: Buffer) {
  const form = new FormData();
  form.set('file', new Blob([Uint8Array.from(clip)]), 'speech.wav');
  form.set('model', 'whisper-1');
  form.set('language', 'en');
  return ask(`${url}/v1/audio/transcriptions`, form);
}

export async function ask(url: string, body: FormData | object) {
  const startMs = performance.now();
  const isForm = body instanceof FormData;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'x-priority': 'realtime',
      ...(!isForm && { 'content-type': 'application/json' }),
    },
    body: isForm ? body : JSON.stringify(body),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (!response.ok) throw new Error(bytes.toString());
  const device = /\bdevice;dur=([\d.]+)/.exec(response.headers.get('server-timing') ?? '');
  return {
    answer: { json: (): unknown => JSON.parse(bytes.toString()) },
    spent: {
      ms: performance.now() - startMs,
      deviceMs: device ? Number(device[1]) : undefined,
    },
  };
}

/** Utterances that the client ends by `commit`, and the same audio as a file. */
export async function liveDelays(url: string, clip: Buffer, utterances: number) {
  const { data, rate } = wavSamples(clip);
  const client = await RealtimeClient.open(url, { model: 'whisper-1' });
  client.update({
    format: { type: 'audio/pcm', rate },
    turn_detection: null,
    transcription: { model: 'whisper-1', language: 'en' },
  });
  await client.next('session.updated');
  const final: number[] = [];
  const beyond: number[] = [];
  for (let at = 0; at < utterances; at++) {
    client.say(data);
    const startMs = performance.now();
    client.commit();
    await client.next(`${TRANSCRIPTION}.completed`);
    const ms = performance.now() - startMs;
    const { spent } = await hear(url, clip);
    final.push(ms);
    beyond.push(ms - (spent.deviceMs ?? 0));
  }
  client.socket.close();
  return { final, beyond };
}

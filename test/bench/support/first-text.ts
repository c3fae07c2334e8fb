import { type SpeechRecognizer } from '@switchyard/engine-api/speech-recognizer.js';
import { PcmIntake } from '../../../src/worker/audio/resampler.js';
import { createEngine } from '../../../src/worker/engine-factory.js';
import { pcmWav } from '../../support/pcm-wav.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { pause } from '../../support/waiting.js';
import { sendInRealTime, SPEAKING_MODELS } from './spoken-delay.js';

const RATE = 16_000;
const FRAME_MS = 20;
const FRAME_SAMPLES = (RATE * FRAME_MS) / 1000;

/** PocketSphinx in two processes: streams have one for themselves. */
export const RESERVED = {
  ...SPEAKING_MODELS[0]!,
  replicas: [{ role: 'stream' }, { role: 'file' }],
} as const;

/** 16 kHz, which workers take as it is. @param pcm at 24 kHz */
export function resampled(pcm: Buffer): Int16Array {
  const intake = new PcmIntake(24_000);
  return Int16Array.from([...intake.take(pcm), ...intake.end()]);
}

export const wavOf = (samples: Int16Array): Buffer => pcmWav(Buffer.from(samples.buffer), RATE);

/**
 * Milliseconds from the first sample of speech, sent in real time, to the first text,
 * through the gateway.
 */
export async function spokenFirstTexts(
  url: string,
  speech: Buffer,
  utterances: number,
): Promise<number[]> {
  const client = await RealtimeClient.open(url, { model: RESERVED.id });
  client.update({ turn_detection: null });
  await client.next('session.updated');
  const delays: number[] = [];
  for (let utterance = 0; utterance < utterances; utterance += 1) {
    const startMs = performance.now();
    const heard = client
      .next(`${TRANSCRIPTION}.delta`)
      .then(() => delays.push(performance.now() - startMs));
    await sendInRealTime(client, speech, startMs);
    client.commit();
    await heard;
    await client.next(`${TRANSCRIPTION}.completed`);
  }
  client.socket.close(1000);
  return delays;
}

/** The same of the engine itself, in this process. */
export async function bareFirstTexts(samples: Int16Array, utterances: number): Promise<number[]> {
  const engine = createEngine(SPEAKING_MODELS[0]!) as SpeechRecognizer;
  await engine.load();
  const delays: number[] = [];
  for (let utterance = 0; utterance < utterances; utterance += 1)
    delays.push(await bareFirstText(engine, samples));
  await engine.close();
  return delays;
}

async function bareFirstText(engine: SpeechRecognizer, samples: Int16Array): Promise<number> {
  const stream = await engine.openStream!({ language: '', prompt: '', partials: true });
  const startMs = performance.now();
  for (let frame = 0; frame * FRAME_SAMPLES < samples.length; frame += 1) {
    await pause(Math.max(0, startMs + (frame + 1) * FRAME_MS - performance.now()));
    const events = await stream.push(
      samples.subarray(frame * FRAME_SAMPLES, (frame + 1) * FRAME_SAMPLES),
    );
    if (events.length === 0) continue;
    const delayMs = performance.now() - startMs;
    await stream.close();
    return delayMs;
  }
  throw new Error('the engine heard nothing');
}

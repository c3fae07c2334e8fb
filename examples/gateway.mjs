import OpenAI, { toFile } from 'openai';

/** Address of the gateway; `npm run up` starts one there. */
export const base = process.env.SWITCHYARD_URL ?? 'http://127.0.0.1:8000';
export const apiKey = process.env.SWITCHYARD_KEY ?? 'unused';
export const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey, maxRetries: 0 });

try {
  await fetch(`${base}/health/live`);
} catch {
  console.error(`No gateway answers at ${base}. Start one with: npm run up`);
  process.exit(1);
}

/**
 * @param format mp3 by default; `pcm` is 24 kHz, mono, 16 bit
 * @returns the bytes of `text`, spoken
 */
export async function speak(text, format = 'mp3') {
  const request = {
    model: 'tts-1',
    voice: 'alloy',
    input: text,
    response_format: format,
  };
  const answer = await openai.audio.speech.create(request);
  return Buffer.from(await answer.arrayBuffer());
}

/** A recording as the SDK takes it. */
export const recording = bytes => toFile(bytes, 'recording.mp3');

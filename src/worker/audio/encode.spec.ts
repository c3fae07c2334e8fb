import { describe, expect, it } from '@jest/globals';
import { decodeAudio } from './decode.js';
import { speechOutput } from './encode.js';

const never = new AbortController().signal;
const tone = (rate: number, seconds: number): Int16Array =>
  Int16Array.from({ length: rate * seconds }, (_, n) =>
    Math.round(8000 * Math.sin((2 * Math.PI * 440 * n) / rate)),
  );

type Output = Parameters<typeof speechOutput>[0];

const speech = (format: Output['format'], onBytes: Output['onBytes'], change = {}) =>
  speechOutput({ format, sampleRate: 24_000, signal: never, onBytes, ...change });

async function encoded(format: Output['format'], sampleRate: number, pieces: Int16Array[]) {
  const chunks: Buffer[] = [];
  const output = speech(format, bytes => chunks.push(bytes), { sampleRate });
  for (const piece of pieces) output.write(piece);
  await output.finish();
  return chunks;
}

describe('speech encoding', () => {
  it.each([
    ['mp3', 0.1],
    ['opus', 0.05],
    ['aac', 0.1],
    ['flac', 0],
    ['wav', 0],
  ] as const)('makes %s of one second that decodes to one second', async (format, slackS) => {
    const chunks = await encoded(format, 16_000, [tone(16_000, 1)]);
    const { durationS } = await decodeAudio(Buffer.concat(chunks), never);
    expect(Math.abs(durationS - 1)).toBeLessThanOrEqual(slackS);
  });

  it('makes 24,000 samples of PCM per second, the same however the engine cuts its audio', async () => {
    const samples = tone(16_000, 1);
    const pieces = [samples.subarray(0, 1), samples.subarray(1, 9001), samples.subarray(9001)];
    const [whole, cut] = await Promise.all([
      encoded('pcm', 16_000, [samples]),
      encoded('pcm', 16_000, pieces),
    ]);
    expect(Buffer.concat(whole)).toHaveLength(48_000);
    expect(Buffer.concat(cut)).toEqual(Buffer.concat(whole));
  });

  it('passes 24 kHz through untouched', async () => {
    const samples = tone(24_000, 0.1);
    expect(Buffer.concat(await encoded('pcm', 24_000, [samples]))).toEqual(
      Buffer.from(samples.buffer),
    );
  });

  it('copies what the engine emits: its buffer may be used again', async () => {
    const chunks: Buffer[] = [];
    const output = speech('pcm', bytes => chunks.push(Buffer.from(bytes)));
    const buffer = Int16Array.of(7, 7);
    output.write(buffer);
    buffer.fill(0);
    await output.finish();
    expect(Buffer.concat(chunks)).toEqual(Buffer.from(Int16Array.of(7, 7).buffer));
  });

  it('begins a WAV of nothing with its header', async () => {
    expect(Buffer.concat(await encoded('wav', 24_000, []))).toHaveLength(44);
  });

  it('gives mp3 out while speech is still coming', async () => {
    let heard = (): void => undefined;
    const first = new Promise<void>(resolve => (heard = resolve));
    const output = speech('mp3', () => heard());
    output.write(tone(24_000, 1));
    await first;
    await output.finish();
  });

  it.each(['mp3', 'wav', 'pcm'] as const)(
    'ends %s with the abort, also while it is written to',
    async format => {
      const abort = new AbortController();
      const output = speech(format, () => undefined, { signal: abort.signal });
      output.write(tone(24_000, 5));
      abort.abort();
      await expect(output.finish()).rejects.toMatchObject({ code: 'request_cancelled' });
    },
  );
});

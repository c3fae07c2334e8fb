import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { streamedWavHeader } from '@switchyard/engine-api/audio/wav-header.js';
import { asrAudio } from './asr-audio.js';

async function collect(chunks: readonly Buffer[], mostSeconds?: number): Promise<Buffer> {
  const collected: Buffer[] = [];
  const { receive } = asrAudio({ encode: false }, mostSeconds);
  const source = Readable.from(chunks) as AsyncIterable<Buffer>;
  for await (const chunk of receive!(source)) collected.push(chunk);
  return Buffer.concat(collected);
}

describe('rawPcmAsWav', () => {
  const header = streamedWavHeader(16_000);
  const samples = Buffer.alloc(64_000, 1);

  it('puts a header before samples, however they are cut', async () => {
    for (const chunks of [
      [samples],
      [samples.subarray(0, 1), samples.subarray(1, 3), samples.subarray(3)],
    ])
      expect((await collect(chunks)).equals(Buffer.concat([header, samples]))).toBe(true);
  });

  it('leaves a WAV file as it is', async () => {
    const file = Buffer.concat([header, samples]);
    expect((await collect([file.subarray(0, 2), file.subarray(2)])).equals(file)).toBe(true);
  });

  it('drops what is beyond the seconds that are wanted', async () => {
    expect(await collect([samples, samples], 1)).toHaveLength(header.length + 32_000);
  });

  it('makes nothing of nothing, and a file of less than a header', async () => {
    expect(await collect([])).toHaveLength(0);
    expect(await collect([Buffer.from('ab')])).toHaveLength(header.length + 2);
  });
});

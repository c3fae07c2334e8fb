import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { otherContentIn, speechIn } from './synthesizer.js';

const PCM = Buffer.from(Int16Array.from({ length: 50 }, (_, i) => i * 500 - 9000).buffer);

/** The samples of a body that comes in these pieces. */
async function samplesOf(pieces: readonly Uint8Array[]) {
  const samples: number[] = [];
  for await (const some of speechIn(Readable.from(pieces), 'm')) samples.push(...some);
  return samples;
}

describe('SpeechSamples', () => {
  it.each([1, 2, 3, 5, 7, 64, 1000])(
    'gives the same samples when the bytes come %i at a time',
    async size => {
      const pieces = Array.from({ length: Math.ceil(PCM.length / size) }, (_, i) =>
        PCM.subarray(i * size, (i + 1) * size),
      );
      expect(await samplesOf(pieces)).toEqual([...new Int16Array(PCM.buffer, PCM.byteOffset, 50)]);
    },
  );

  it('keeps a body shorter than any container name, and drops half a sample at the end', async () => {
    const parts = speechIn(Readable.from([Buffer.from([1, 0, 9])]), 'm');
    expect([...(await parts.next()).value!]).toEqual([]);
    expect([...(await parts.next()).value!]).toEqual([1]);
  });

  it.each([
    ['RIFF', 'WAV'],
    ['ID3\x04', 'MP3'],
    ['OggS', 'Ogg'],
    ['fLaC', 'FLAC'],
  ])('refuses bytes that begin with %j, even one at a time', async (start, name) => {
    const bytes = [...start].map(byte => Buffer.from(byte, 'latin1'));
    await expect(samplesOf(bytes)).rejects.toThrow(`sent ${name}`);
  });
});

describe('otherContentIn', () => {
  it.each([
    undefined,
    'audio/pcm',
    'audio/L16; rate=24000',
    'audio/x-pcm',
    'application/octet-stream',
  ])('takes %s', type => {
    expect(otherContentIn(type)).toBeUndefined();
  });

  it.each([
    'audio/mpeg',
    'audio/wav',
    'audio/x-wav',
    'text/html; charset=utf-8',
    'application/json',
    'Audio/Ogg',
  ])('names %s', type => {
    expect(otherContentIn(type)).toBe(type);
  });
});

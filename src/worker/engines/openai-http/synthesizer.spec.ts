import { describe, expect, it } from '@jest/globals';
import { otherContentIn, SpeechSamples } from './synthesizer.js';

const PCM = Buffer.from(Int16Array.from({ length: 50 }, (_, i) => i * 500 - 9000).buffer);

describe('SpeechSamples', () => {
  it.each([1, 2, 3, 5, 7, 64, 1000])(
    'gives the same samples when the bytes come %i at a time',
    size => {
      const speech = new SpeechSamples('m');
      const samples: number[] = [];
      for (let at = 0; at < PCM.length; at += size)
        samples.push(...speech.take(PCM.subarray(at, at + size)));
      samples.push(...speech.end());
      expect(samples).toEqual([...new Int16Array(PCM.buffer, PCM.byteOffset, 50)]);
    },
  );

  it('keeps a body shorter than any container name, and drops half a sample at the end', () => {
    const speech = new SpeechSamples('m');
    expect([...speech.take(Buffer.from([1, 0, 9]))]).toEqual([]);
    expect([...speech.end()]).toEqual([1]);
  });

  it.each([
    ['RIFF', 'WAV'],
    ['ID3\x04', 'MP3'],
    ['OggS', 'Ogg'],
    ['fLaC', 'FLAC'],
  ])('refuses bytes that begin with %j, even one at a time', (start, name) => {
    const speech = new SpeechSamples('m');
    expect(() =>
      [...start].forEach(byte => speech.take(Buffer.from(byte, 'latin1'))),
    ).toThrow(`sent ${name}`);
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

import { describe, expect, it } from '@jest/globals';
import { streamedWavHeader } from '../../contracts/formats/speech.js';
import { canonicalWavData } from './decode.js';

const chunk = (id: string, body: Buffer, declared = body.length): Buffer => {
  const head = Buffer.alloc(8);
  head.write(id, 'latin1');
  head.writeUInt32LE(declared, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
};

function format(
  { coding = 1, channels = 1, rate = 16_000, bits = 16 } = {},
  extra = Buffer.alloc(0),
): Buffer {
  const body = Buffer.alloc(16);
  body.writeUInt16LE(coding, 0);
  body.writeUInt16LE(channels, 2);
  body.writeUInt32LE(rate, 4);
  body.writeUInt16LE(bits, 14);
  return chunk('fmt ', Buffer.concat([body, extra]));
}

const riff = (...chunks: Buffer[]): Buffer =>
  chunk('RIFF', Buffer.concat([Buffer.from('WAVE'), ...chunks]));
const samples = Buffer.from([1, 2, 3, 4, 5, 6]);

describe('canonicalWavData', () => {
  it('finds the data after chunks of no interest, odd-sized ones included', () => {
    const file = riff(
      chunk('LIST', Buffer.from('odd')),
      format(),
      chunk('fact', Buffer.alloc(4)),
      chunk('data', samples),
    );
    expect(canonicalWavData(file)).toEqual(samples);
  });

  it('finds the data before the format', () => {
    expect(canonicalWavData(riff(chunk('data', samples), format()))).toEqual(samples);
  });

  it('leaves a file with two data chunks to ffmpeg, so that all recognisers hear the same one', () => {
    const file = riff(format(), chunk('data', samples), chunk('data', samples));
    expect(canonicalWavData(file)).toBeUndefined();
  });

  it('leaves chunks behind the data out', () => {
    const file = riff(format(), chunk('data', samples), chunk('LIST', Buffer.from('trailing')));
    expect(canonicalWavData(file)).toEqual(samples);
  });

  it.each([0xffffffff, 0x7fffffff, 7, 0])(
    'clips a data length of %i to the 6 bytes of the file',
    declared => {
      expect(canonicalWavData(riff(format(), chunk('data', samples, declared)))).toEqual(samples);
    },
  );

  it('takes a data length of 0 literally at the end of the file and before another chunk', () => {
    const empty = Buffer.alloc(0);
    expect(canonicalWavData(riff(format(), chunk('data', empty)))).toHaveLength(0);
    expect(
      canonicalWavData(riff(format(), chunk('data', empty), chunk('LIST', Buffer.from('abcd')))),
    ).toHaveLength(0);
  });

  it('takes the extensible format when PCM is inside', () => {
    const subFormat = Buffer.alloc(24);
    subFormat.writeUInt16LE(1, 8);
    expect(
      canonicalWavData(riff(format({ coding: 0xfffe }, subFormat), chunk('data', samples))),
    ).toEqual(samples);
    subFormat.writeUInt16LE(3, 8);
    expect(
      canonicalWavData(riff(format({ coding: 0xfffe }, subFormat), chunk('data', samples))),
    ).toBeUndefined();
  });

  it.each([
    ['stereo', { channels: 2 }],
    ['44.1 kHz', { rate: 44_100 }],
    ['8 bit', { bits: 8 }],
    ['float', { coding: 3 }],
  ])('leaves %s to ffmpeg', (_what, change) => {
    expect(canonicalWavData(riff(format(change), chunk('data', samples)))).toBeUndefined();
  });

  it.each([
    ['text', Buffer.from('this is not a wav file at all')],
    ['nothing', Buffer.alloc(0)],
    ['RIFF of another kind', chunk('RIFF', Buffer.from('AVI LIST'))],
    ['a cut format', riff(chunk('fmt ', Buffer.alloc(4)), chunk('data', samples))],
    ['no format', riff(chunk('data', samples))],
    ['no data', riff(format())],
  ])('leaves %s to ffmpeg', (_what, file) => {
    expect(canonicalWavData(file)).toBeUndefined();
  });
});

describe('streamedWavHeader', () => {
  it('begins a file of unknown length that reads as a WAV of all bytes that follow', () => {
    expect(canonicalWavData(Buffer.concat([streamedWavHeader(16_000), samples]))).toEqual(samples);
  });
});

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
  const data = chunk('data', samples);
  const extensible = (coding: number) => {
    const subFormat = Buffer.alloc(24);
    subFormat.writeUInt16LE(coding, 8);
    return riff(format({ coding: 0xfffe }, subFormat), data);
  };

  it.each([
    [
      'after chunks of no interest, odd-sized ones included',
      riff(chunk('LIST', Buffer.from('odd')), format(), chunk('fact', Buffer.alloc(4)), data),
    ],
    ['before the format', riff(data, format())],
    ['before chunks behind it', riff(format(), data, chunk('LIST', Buffer.from('trailing')))],
    ['of the extensible format when PCM is inside', extensible(1)],
  ])('finds the data %s', (_where, file) => {
    expect(canonicalWavData(file)).toEqual(samples);
  });

  it.each([0xffffffff, 0x7fffffff, 7, 0])(
    'clips a data length of %i to the 6 bytes of the file',
    declared => {
      expect(canonicalWavData(riff(format(), chunk('data', samples, declared)))).toEqual(samples);
    },
  );

  it('takes a data length of 0 literally at the end of the file and before another chunk', () => {
    const empty = [format(), chunk('data', Buffer.alloc(0))];
    for (const behind of [[], [chunk('LIST', Buffer.from('abcd'))]])
      expect(canonicalWavData(riff(...empty, ...behind))).toHaveLength(0);
  });

  it.each([
    ['stereo', riff(format({ channels: 2 }), data)],
    ['44.1 kHz', riff(format({ rate: 44_100 }), data)],
    ['8 bit', riff(format({ bits: 8 }), data)],
    ['float', riff(format({ coding: 3 }), data)],
    ['the extensible format with float inside', extensible(3)],
    ['two data chunks, so that all recognisers hear the same one,', riff(format(), data, data)],
    ['text', Buffer.from('this is not a wav file at all')],
    ['nothing', Buffer.alloc(0)],
    ['RIFF of another kind', chunk('RIFF', Buffer.from('AVI LIST'))],
    ['a cut format', riff(chunk('fmt ', Buffer.alloc(4)), data)],
    ['no format', riff(data)],
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

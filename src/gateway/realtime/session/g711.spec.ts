import { describe, expect, it } from '@jest/globals';
import { decodeG711 } from './g711.js';

const samples = (bytes: number[], encoding: 'g711_ulaw' | 'g711_alaw'): number[] => {
  const pcm = decodeG711(Uint8Array.from(bytes), encoding);
  return bytes.map((_, at) => pcm.readInt16LE(at * 2));
};

describe('G.711', () => {
  it('decodes the µ-law codes of silence, the smallest step and both ends (ITU-T tables, 16-bit scale)', () => {
    expect(
      samples([0xff, 0x7f, 0xfe, 0x80, 0x00, 0xf0], 'g711_ulaw').map(value => value + 0),
    ).toEqual([0, 0, 8, 32_124, -32_124, 120]);
  });

  it('decodes the A-law codes next to zero and both ends', () => {
    expect(samples([0xd5, 0x55, 0xaa, 0x2a, 0x80], 'g711_alaw')).toEqual([
      8, -8, 32_256, -32_256, 5504,
    ]);
  });

  it('is odd-symmetric over all 128 magnitudes', () => {
    for (const encoding of ['g711_ulaw', 'g711_alaw'] as const) {
      for (let code = 0; code < 128; code += 1) {
        const [positive, negative] = samples([code | 0x80, code], encoding);
        expect(positive! + negative!).toBe(0);
      }
    }
  });
});

import { type AudioFormat } from '../../../contracts/realtime/audio-format.js';

type G711 = Exclude<AudioFormat['encoding'], 'pcm16'>;

/** One sample of µ-law (ITU-T G.711), 14 bits of it. */
function ulawSample(byte: number): number {
  const code = ~byte & 0xff;
  const magnitude = ((((code & 0x0f) << 3) + 0x84) << ((code & 0x70) >> 4)) - 0x84;
  return code & 0x80 ? -magnitude : magnitude;
}

/** One sample of A-law (ITU-T G.711), 13 bits of it. */
function alawSample(byte: number): number {
  const code = byte ^ 0x55;
  const exponent = (code & 0x70) >> 4;
  const mantissa = ((code & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return code & 0x80 ? magnitude : -magnitude;
}

const tableOf = (sample: (byte: number) => number): Int16Array =>
  Int16Array.from({ length: 256 }, (_, at) => sample(at));

const TABLES: Readonly<Record<G711, Int16Array>> = {
  g711_ulaw: tableOf(ulawSample),
  g711_alaw: tableOf(alawSample),
};

/**
 * Telephone bytes → PCM s16le at the same rate: one table look-up a sample, which the
 * gateway may do (D-12).
 */
export function decodeG711(bytes: Uint8Array, encoding: G711): Buffer {
  const table = TABLES[encoding];
  const pcm = Buffer.allocUnsafe(bytes.length * 2);
  for (let at = 0; at < bytes.length; at += 1) pcm.writeInt16LE(table[bytes[at] ?? 0] ?? 0, at * 2);
  return pcm;
}

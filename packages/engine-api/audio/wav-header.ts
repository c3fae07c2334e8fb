const PCM = 1;

const UNKNOWN_LENGTH = 0xffffffff;

const HEADER_BYTES = 44;

/**
 * Header of a WAV stream whose length is not known when it begins: both length fields
 * hold the largest value.
 */
export const streamedWavHeader = (sampleRate: number): Buffer =>
  header(sampleRate, UNKNOWN_LENGTH, UNKNOWN_LENGTH);

/** Header of a WAV file with `dataBytes` bytes of s16 samples. */
export const wavHeader = (sampleRate: number, dataBytes: number, channels = 1): Buffer =>
  header(sampleRate, HEADER_BYTES - 8 + dataBytes, dataBytes, channels);

function header(sampleRate: number, riffBytes: number, dataBytes: number, channels = 1): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(riffBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * channels * 2, 28);
  header.writeUInt16LE(channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** What a WAV header says; undefined fields make the duration unknown. */
export interface WavHeader {
  readonly byteRate: number;
  /** Bytes of samples, as far as the file really holds them. */
  readonly dataBytes: number;
}

const CHUNK_HEADER = 8;
const FMT_BYTES = 16;

/**
 * Reads `fmt ` and `data` of a RIFF/WAVE file from its first bytes; undefined when it is none, or the chunks are not there.
 *
 * Streamed WAV (ffmpeg through a pipe) declares 0 or 0xFFFFFFFF bytes of data: then the rest of the file is data.
 */
export function readWavHeader(head: Buffer, fileSize: number): WavHeader | undefined {
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE') return undefined;
  let byteRate = 0;
  for (let at = 12; at + CHUNK_HEADER <= head.length;) {
    const id = head.toString('latin1', at, at + 4);
    const declared = head.readUInt32LE(at + 4);
    const body = at + CHUNK_HEADER;
    if (id === 'data') return { byteRate, dataBytes: dataBytes(declared, fileSize - body) };
    if (id === 'fmt ' && body + FMT_BYTES <= head.length) byteRate = head.readUInt32LE(body + 8);
    // Chunks are padded to even sizes.
    at = body + declared + (declared % 2);
  }
  return undefined;
}

function dataBytes(declared: number, available: number): number {
  return declared === 0 ? available : Math.min(declared, available);
}

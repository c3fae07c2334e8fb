const FIRST_CHUNK = 12;
const CHUNK_HEADER = 8;
const UNKNOWN_LENGTH = 0xffffffff;

/**
 * The chunks of a WAV file, out of its first bytes; none when it is no WAV file. A length
 * that exceeds the file is clipped to it.
 * @param size bytes of the whole file
 */
export function* wavChunks(head: Buffer, size = head.length) {
  if (ascii(head, 0) !== 'RIFF' || ascii(head, 8) !== 'WAVE') return;
  for (let at = FIRST_CHUNK; at + CHUNK_HEADER <= head.length;) {
    const id = ascii(head, at);
    const start = at + CHUNK_HEADER;
    const length = Math.min(size - start, declaredLength(head, id, at));
    yield { id, start, length };
    // Chunks are padded to even sizes.
    at = start + length + (length % 2);
  }
}

/**
 * Writers that stream leave 0 as the length of the data and never come back: then it goes
 * on to the end of the file.
 */
function declaredLength(head: Buffer, id: string, at: number): number {
  const length = head.readUInt32LE(at + 4);
  return id === 'data' && length === 0 && !isChunkAt(head, at + CHUNK_HEADER)
    ? UNKNOWN_LENGTH
    : length;
}

const isChunkAt = (head: Buffer, at: number): boolean =>
  at + CHUNK_HEADER <= head.length &&
  /^[A-Za-z0-9 ]{4}$/.test(ascii(head, at)) &&
  at + CHUNK_HEADER + head.readUInt32LE(at + 4) <= head.length;

const ascii = (head: Buffer, at: number): string => head.toString('latin1', at, at + 4);

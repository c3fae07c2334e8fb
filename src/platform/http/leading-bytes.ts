/** The beginning of a body: what follows the piece that reaches `most` bytes is left unread. */
export async function leadingBytes(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    pieces.push(piece);
    bytes += piece.byteLength;
    if (bytes >= most) break;
  }
  return Buffer.concat(pieces);
}

import { type Readable } from 'node:stream';

const MAX_CHARACTERS = 4096;

/** Reads a child's stderr to the end, so that it never blocks, and keeps its beginning. */
export function boundedText(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (piece: string) => {
    if (text.length < MAX_CHARACTERS) text = (text + piece).slice(0, MAX_CHARACTERS);
  });
  return () => text;
}

import { type Hash } from 'node:crypto';

/** Passes the bytes on and adds them to the digest. */
export async function* hashed(
  source: AsyncIterable<Uint8Array>,
  digest: Hash,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    digest.update(chunk);
    yield chunk;
  }
}

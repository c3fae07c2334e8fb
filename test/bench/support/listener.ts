import { Playback } from '../../../src/core/order/playback.js';

/** An answer as somebody heard it, in milliseconds. */
export interface Heard {
  /** From the request to its first audio, and to its last. */
  readonly firstMs: number;
  readonly wholeMs: number;
  /** How long it sounds. */
  readonly audioMs: number;
  /** For how long its listener waited in the middle of it. */
  readonly lateMs: number;
}

/** `pcm`: 24 kHz, 16 bits. */
const BYTES_PER_MS = 48;

/** Asks for speech and plays it from its first audio on. */
export async function listen(
  url: string,
  body: object,
  priority: 'realtime' | 'batch',
): Promise<Heard> {
  const startMs = performance.now();
  const response = await fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-priority': priority },
    body: JSON.stringify({ ...body, response_format: 'pcm' }),
  });
  if (!response.ok) throw new Error(await response.text());
  const playback = new Playback();
  let [firstMs, bytes] = [0, 0];
  for await (const piece of response.body!) {
    firstMs ||= performance.now() - startMs;
    bytes += piece.length;
    playback.made(piece.length / BYTES_PER_MS, performance.now());
  }
  return {
    firstMs,
    wholeMs: performance.now() - startMs,
    audioMs: bytes / BYTES_PER_MS,
    lateMs: playback.lateMs,
  };
}

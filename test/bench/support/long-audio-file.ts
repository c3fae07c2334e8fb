import { execFile } from 'node:child_process';
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { wavHeader } from '@switchyard/engine-api/audio/wav-header.js';
import { seededRandom } from './seeded-random.js';

const RATE = 16_000;

/**
 * A WAV file (16 kHz, mono) of noise with a pause after every 2 to 8 s, as speech has
 * them; the same in every run.
 */
export async function writeLongWav(path: string, minutes: number): Promise<void> {
  const random = seededRandom(7);
  const second = Int16Array.from({ length: RATE }, () => (random() - 0.5) * 16_000);
  const noise = Buffer.from(second.buffer);
  const pause = Buffer.alloc(RATE);
  const file = await open(path, 'w');
  try {
    let left = minutes * 60 * RATE * 2;
    await file.write(wavHeader(RATE, left));
    for (let until = 2 + Math.floor(random() * 7); left > 0; until -= 1) {
      const piece = (until > 0 ? noise : pause).subarray(0, left);
      if (until <= 0) until = 3 + Math.floor(random() * 7);
      await file.write(piece);
      left -= piece.length;
    }
  } finally {
    await file.close();
  }
}

/** The same audio in the container that the name of `to` says. */
export async function converted(from: string, to: string): Promise<void> {
  await promisify(execFile)('ffmpeg', ['-y', '-loglevel', 'error', '-i', from, '-b:a', '64k', to]);
}

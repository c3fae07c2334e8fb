import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What each recording of test/fixtures/speech says. */
export const RECORDINGS = {
  window: 'He opened the window because the room was too hot.',
  houses: 'The government announced a new plan to build more houses.',
} as const;

/** Speech of a few seconds, 16 kHz, without the silence around it, so that its ends are known. */
export async function recording(name: keyof typeof RECORDINGS): Promise<Int16Array> {
  const file = `test/fixtures/speech/${name}.ogg`;
  const { stdout } = await run(
    'ffmpeg',
    ['-loglevel', 'error', '-i', file, '-ar', '16000', '-ac', '1', '-f', 's16le', 'pipe:1'],
    { encoding: 'buffer' },
  );
  const samples = new Int16Array(new Uint8Array(stdout).buffer);
  const isAudible = (sample: number) => Math.abs(sample) > 300;
  return samples.slice(samples.findIndex(isAudible), samples.findLastIndex(isAudible) + 1);
}

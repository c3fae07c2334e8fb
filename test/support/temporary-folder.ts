import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let root: string | undefined;

/**
 * A new, empty folder. It is removed when this process ends, unless `BENCH_KEEP` is set:
 * logs and profiles stay then.
 */
export function temporaryFolder(): string {
  root ??= rootFolder();
  return mkdtempSync(join(root, 't-'));
}

function rootFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-tests-'));
  if (process.env.BENCH_KEEP !== undefined) console.error(`kept: ${folder}`);
  else process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

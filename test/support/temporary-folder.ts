import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let root: string | undefined;

/** A new, empty folder. It is removed when the process of the tests ends. */
export function temporaryFolder(): string {
  root ??= rootFolder();
  return mkdtempSync(join(root, 't-'));
}

function rootFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-tests-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

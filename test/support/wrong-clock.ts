import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from './temporary-folder.js';

const HOOK = pathToFileURL(resolve('test/support/clock-hook.mjs')).href;

/** Environment of a process whose wall clock is that far ahead. @param aheadMs below 0: behind */
export function wrongClock(aheadMs: number): NodeJS.ProcessEnv {
  const file = join(temporaryFolder(), 'clock');
  writeFileSync(file, String(aheadMs));
  return { NODE_OPTIONS: `--import ${HOOK}`, TEST_CLOCK_FILE: file };
}

import { appendFileSync } from 'node:fs';
import { usedCpuS } from '../../../scripts/test-budget.mjs';

let counted = 0;

/**
 * Writes down for `npm test` what this process and the children that it waited for used
 * since the file before.
 */
export function noteCpuTime(name) {
  const { JEST_CPU_FILE: file } = process.env;
  const usedS = usedCpuS();
  if (!file || usedS === undefined) return;
  appendFileSync(file, `${JSON.stringify({ name, cpuS: usedS - counted })}\n`);
  counted = usedS;
}

/** Of what files shared, in a process that ran some. */
export function noteSharedCpuTime() {
  if (counted > 0) noteCpuTime('');
}

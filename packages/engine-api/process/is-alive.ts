import { readFileSync } from 'node:fs';

/** False for a process that has ended, also while its parent has not collected it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !isZombie(pid);
}

/** On Linux; elsewhere such a process counts as alive. */
function isZombie(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name stands in brackets and may contain any character.
    return status.charAt(status.lastIndexOf(')') + 2) === 'Z';
  } catch {
    return false;
  }
}

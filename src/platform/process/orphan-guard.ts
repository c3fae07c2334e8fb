import { type ChildProcess } from 'node:child_process';

const living = new Set<ChildProcess>();

/** Ends every child process at once. Their supervisors start successors unless they are closing. */
export function killGuarded(): void {
  for (const child of living) child.kill('SIGKILL');
}

/**
 * Kills `child` when this process ends without having stopped it (an uncaught exception, `process.exit`).
 * When this process is itself killed with SIGKILL that is left to the child: it exits when its IPC channel closes (`parent-loss`).
 */
export function guard(child: ChildProcess): void {
  if (living.size === 0) process.on('exit', killGuarded);
  living.add(child);
}

/** It has ended by itself. */
export function unguard(child: ChildProcess): void {
  living.delete(child);
  if (living.size === 0) process.off('exit', killGuarded);
}

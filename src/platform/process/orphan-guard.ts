import { type ChildProcess } from 'node:child_process';

/**
 * Kills what is left when this process ends without having stopped its children (an uncaught exception, `process.exit`).
 * When it is itself killed with SIGKILL that is left to the children: they exit when their IPC channel closes.
 */
const living = new Set<ChildProcess>();

/** Ends every child process at once. Their supervisors start successors unless they are closing. */
export function killGuarded(): void {
  for (const child of living) child.kill('SIGKILL');
}

export function guard(child: ChildProcess): void {
  if (living.size === 0) process.on('exit', killGuarded);
  living.add(child);
}

export function unguard(child: ChildProcess): void {
  living.delete(child);
  if (living.size === 0) process.off('exit', killGuarded);
}

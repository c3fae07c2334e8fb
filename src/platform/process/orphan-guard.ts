import { type ChildProcess, spawn } from 'node:child_process';
import { type Socket } from 'node:net';

/** The watcher of each child. */
const living = new Map<ChildProcess, ChildProcess>();

/** Ends every child process at once. Their supervisors start successors unless they are closing. */
export function killGuarded(): void {
  for (const child of living.keys()) child.kill('SIGKILL');
}

/**
 * Kills `child` when this process ends without having stopped it: at once after an uncaught exception or `process.exit`, and
 * `limitMs` after this process was itself killed with SIGKILL. A child exits by itself when its IPC channel closes
 * (`parent-loss`); the watcher ends those that are stopped, hung in native code or blocked.
 */
export function guard(child: ChildProcess, limitMs: number): void {
  if (living.size === 0) process.on('exit', killGuarded);
  living.set(child, watch(child, limitMs));
}

/** It has ended by itself. */
export function unguard(child: ChildProcess): void {
  living.get(child)?.stdin?.end('ended\n');
  living.delete(child);
  if (living.size === 0) process.off('exit', killGuarded);
}

/** `read` fails when the pipe closes without a line: this process is gone. */
const WATCH = 'trap \'\' HUP INT TERM; read -r ended || { sleep "$2"; kill -9 "$1"; }';

/**
 * A shell of its own session: it depends on neither event loop, works for children in any language and costs less than 1 MB.
 * Where there is no POSIX shell, only `parent-loss` ends the children of a killed process.
 */
function watch({ pid }: ChildProcess, limitMs: number): ChildProcess {
  const args = ['-c', pid === undefined ? ':' : WATCH, 'orphan-guard', String(pid), String(limitMs / 1000)];
  const watcher = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true, env: {} });
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  (watcher.stdin as Partial<Socket>).unref?.();
  return watcher;
}

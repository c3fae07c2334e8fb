import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type NodeProcess } from './node-process.js';
import { pause } from './waiting.js';

/** Flags of Node for a process that `freezeAt` can stop. */
export const FREEZABLE = [
  '--import',
  pathToFileURL(resolve('test/support/freeze-hook.mjs')).href,
] as const;

export interface FreezePoint {
  /** Counting starts behind the first operation that matches. */
  readonly after?: string;
  /** Regular expression over `<file operation> <path>` or `<SQL> <parameters>`. */
  readonly at: string;
  /** The n-th match, from 1. */
  readonly nth?: number;
}

/** The process stops itself (SIGSTOP) right before that operation. */
export async function freezeAt(process: NodeProcess, point: FreezePoint): Promise<void> {
  await process.message('ready');
  process.child.send({ type: 'freeze', ...point });
}

/** Resolves when the process is stopped by a signal. */
export async function untilFrozen({ child }: NodeProcess): Promise<void> {
  while (!(await isStopped(child.pid!))) await pause(5);
}

/** SIGCONT. */
export const thaw = ({ child }: NodeProcess): void => void child.kill('SIGCONT');

const isStopped = async (pid: number): Promise<boolean> =>
  / \(.*\) T /s.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { processTree } from '../../support/process-tree.js';
import { type Place } from './contestants.js';

/** Lines at a time, for all. */
export const IN_FLIGHT = 64;
export const POLL_MS = 100;

export interface JobPlace extends Place {
  readonly input: string;
  readonly output: string;
}

/** A batch on its way. */
export interface JobRunner extends AsyncDisposable {
  /** Its processes are these and all below them. */
  readonly pids: readonly (number | undefined)[];
  begin(): Promise<void>;
  /** Resolves when the output is written. */
  finish(): Promise<void>;
  /** kill -9 of what does the lines. */
  kill(): Promise<void>;
  /** Starts again what was killed, with the command that started it. */
  restart(): Promise<void>;
}

/** What can do a batch; its servers run when `start` resolves. */
export interface JobContestant {
  readonly name: string;
  readonly version: string;
  start(place: JobPlace): Promise<JobRunner>;
}

export const baseUrl = ({ upstreamPort }: Place): string => `http://127.0.0.1:${upstreamPort}/v1`;

/** Its errors go to this terminal. */
export const run = (program: string, args: readonly string[]): ChildProcess =>
  spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });

export const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

export async function ended(child: ChildProcess): Promise<void> {
  if (isAlive(child)) await once(child, 'exit');
  if (child.exitCode !== 0)
    throw new Error(`${child.spawnargs.join(' ')} ended with ${child.exitCode}`);
}

export async function killed(child: ChildProcess): Promise<void> {
  if (!isAlive(child)) return;
  const exited = once(child, 'exit');
  killTree(child);
  await exited;
}

export function killTree({ pid: root }: ChildProcess): void {
  for (const { pid } of processTree(root)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

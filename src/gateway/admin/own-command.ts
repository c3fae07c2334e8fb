import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Logger } from '@nestjs/common';

/** The command line of this release; from the sources too it is the built one. */
const PROGRAM = fileURLToPath(new URL('../../../dist/main.cli.js', import.meta.url));
const LIMIT_MS = 60_000;
const MAX_OUTPUT = 4_194_304;

/**
 * What `switchyard ARGS --json` prints: it runs in a process of its own, with the
 * settings and folders of this gateway.
 * @throws Error when it prints no JSON within a minute
 */
export function ownCommand<T>(...args: readonly string[]): Promise<T> {
  const options = { timeout: LIMIT_MS, maxBuffer: MAX_OUTPUT };
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [PROGRAM, ...args, '--json'],
      options,
      (error, stdout, stderr) => {
        try {
          // `doctor` ends with 1 when it finds something; what it found is printed
          // all the same.
          resolve(JSON.parse(stdout) as T);
        } catch {
          new Logger(ownCommand.name).error(
            { args, stderr: stderr.slice(-1000) },
            'the own command line failed',
          );
          reject(error ?? new Error(`switchyard ${args.join(' ')} printed no JSON`));
        }
      },
    );
  });
}

/** `switchyard ARGS`, which may take hours. */
export const ownProcess = (...args: readonly string[]): ChildProcess =>
  spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });

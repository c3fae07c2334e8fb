import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import { toolEnvironment } from '../../platform/config/process-environment.js';
import { CliError } from './cli-error.js';

/** The folder with package.json, for sources and for the build. */
export const PRODUCT_FOLDER = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Never rejects: a command that is missing, killed or too slow has a code other than 0
 * and says why.
 * @param options `env` is added to what commands need of the environment of this process
 *   (`toolEnvironment`); settings of pip and npm are among that
 * @returns code 127 if there is no such command; both streams, in the order of arrival
 */
export const runCommand = (
  file: string,
  args: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly cwd?: string;
    readonly onLine?: (line: string) => void;
    readonly signal?: AbortSignal | undefined;
    readonly limitMs?: number;
  } = {},
): Promise<{ readonly code: number; readonly output: string }> =>
  new Promise(resolve => {
    const { env = {}, cwd = PRODUCT_FOLDER, onLine, signal, limitMs } = options;
    const child = spawn(file, args, {
      cwd,
      env: toolEnvironment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    });
    // Not `timeout` of spawn: where there is no such command, it runs to its end.
    const limit =
      limitMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), limitMs);
    const lines: string[] = [];
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on('line', line => {
        lines.push(line);
        onLine?.(line);
      });
    }
    const end = (code: number, ...last: readonly string[]) => {
      clearTimeout(limit);
      resolve({ code, output: [...lines, ...last].join('\n') });
    };
    child.once('error', error => end(127, error.message));
    child.once('close', (code, killed) =>
      end(code ?? 1, ...(killed ? [`ended by ${killed}`] : [])),
    );
  });

export type RunCommand = typeof runCommand;

/** How an installation runs commands, says what it does, and is broken off. */
export interface Installing {
  readonly run?: RunCommand;
  readonly report: (text: string) => void;
  readonly signal?: AbortSignal | undefined;
}

export const NPM_INSTALL = [
  'install',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
] as const;

export const lastLines = (output: string, count = 5): string =>
  output.trim().split('\n').slice(-count).join('\n');

/** @returns what it printed. @throws CliError `problem` with its last lines */
export async function demandSuccess(
  problem: string,
  running: ReturnType<RunCommand>,
): Promise<string> {
  const { code, output } = await running;
  if (code === 0) return output;
  throw new CliError(`${problem}: ${lastLines(output)}`);
}

/** The last line that is JSON: native libraries write lines of their own. */
export function parsed<T>(output: string): T | undefined {
  const line = output.split('\n').findLast(text => text.startsWith('{'));
  return line === undefined ? undefined : (jsonIn(line) as T | undefined);
}

/**
 * Runs a program of this product on this terminal. Ctrl-C reaches the whole group by the
 * terminal; the child drains, so this process has to outlive it.
 * @param file relative to the folder of the product
 * @returns its exit code
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env'> = {},
): Promise<number> {
  const child = spawn(process.execPath, [join(PRODUCT_FOLDER, file), ...args], {
    ...options,
    stdio: 'inherit',
  });
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + constants.signals[signal!];
}

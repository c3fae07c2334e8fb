import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { foreignEnvironment } from '@switchyard/engine-api/process/foreign-environment.js';
import { CliError } from '../shared/cli-error.js';

/** The folder with package.json, for sources and for the build. */
export const PRODUCT_FOLDER = fileURLToPath(new URL('../../../', import.meta.url));

interface CommandResult {
  /** 127: there is no such command. */
  readonly code: number;
  /** Both streams, in the order of arrival. */
  readonly output: string;
}

export interface CommandOptions {
  /**
   * Added to the environment of this process, which keeps its settings to itself; PIP_…
   * and npm's pass through.
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly onLine?: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  readonly limitMs?: number;
}

/** How an installation runs commands, says what it does, and is broken off. */
export interface Installing extends Pick<CommandOptions, 'signal'> {
  readonly run?: RunCommand;
  readonly report: (text: string) => void;
}

export type RunCommand = (
  file: string,
  args: readonly string[],
  options?: CommandOptions,
) => Promise<CommandResult>;

/**
 * Never rejects: a command that is missing, killed or too slow has a code other than 0
 * and says why.
 */
export const runCommand: RunCommand = (
  file,
  args,
  { env = {}, cwd = PRODUCT_FOLDER, onLine, signal, limitMs } = {},
) =>
  new Promise(resolve => {
    const child = spawn(file, args, {
      cwd,
      env: foreignEnvironment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    });
    // Not `timeout` of spawn: where there is no such command, it runs to its end.
    const limit =
      limitMs === undefined
        ? undefined
        : setTimeout(() => child.kill('SIGKILL'), limitMs);
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
  running: Promise<CommandResult>,
): Promise<string> {
  const { code, output } = await running;
  if (code === 0) return output;
  throw new CliError(`${problem}: ${lastLines(output)}`);
}

/**
 * Runs a script with this Node. @returns what it prints last, as JSON; undefined
 * if it fails
 */
export async function askNode<T>(
  run: RunCommand,
  script: string,
  cwd = PRODUCT_FOLDER,
): Promise<T | undefined> {
  // A process that a package forks would get the flags of this one, `--eval` among them.
  const text = `process.execArgv.length = 0;\n${script}`;
  const { output } = await run(
    process.execPath,
    ['--input-type=module', '--eval', text],
    { cwd, limitMs: 60_000 },
  );
  return parsed<T>(output);
}

/** The last line that is JSON: native libraries write lines of their own. */
export function parsed<T>(output: string): T | undefined {
  const line = output.split('\n').findLast(text => text.startsWith('{'));
  try {
    return line === undefined ? undefined : (JSON.parse(line) as T);
  } catch {
    return undefined;
  }
}

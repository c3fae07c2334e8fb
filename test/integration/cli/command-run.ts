import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stderr, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { exitCodeOf, program } from '../../../src/cli/program.js';
import { ENGINE_CHECKS } from '../../../src/worker/engine-factory.js';

export interface CommandResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

const MAIN = fileURLToPath(new URL('../../../dist/main.cli.js', import.meta.url));

/**
 * The built `switchyard` command as a process of its own; no terminal, so plain lines.
 */
export class CommandRun {
  readonly child: ChildProcess;
  readonly ended: Promise<CommandResult>;

  constructor(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    input = '',
  ) {
    this.child = spawn(process.execPath, [MAIN, ...args], {
      // The parent's own flags are not for a plain Node.
      env: { ...process.env, NODE_OPTIONS: '', ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child.stdin?.end(input);
    this.ended = this.#result();
  }

  async #result(): Promise<CommandResult> {
    const texts = { stdout: '', stderr: '' };
    this.child.stdout?.on('data', (chunk: Buffer) => (texts.stdout += chunk.toString()));
    this.child.stderr?.on('data', (chunk: Buffer) => (texts.stderr += chunk.toString()));
    const [code, signal] = (await once(this.child, 'close')) as [
      number | null,
      NodeJS.Signals | null,
    ];
    return { code, signal, ...texts };
  }
}

/**
 * In this process, one at a time, as a process each costs a second: what is written and
 * what the process would end with.
 */
export async function runHere(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Omit<CommandResult, 'signal'>> {
  const before = Object.keys(environment).map(name => [name, process.env[name]] as const);
  Object.assign(process.env, environment);
  const texts = { stdout: '', stderr: '' };
  const originals = {
    stdout: stdout.write.bind(stdout),
    stderr: stderr.write.bind(stderr),
  };
  stdout.write = (chunk: string | Uint8Array) => ((texts.stdout += String(chunk)), true);
  stderr.write = (chunk: string | Uint8Array) => ((texts.stderr += String(chunk)), true);
  try {
    process.exitCode = 0;
    await program(() => Promise.resolve(ENGINE_CHECKS)).parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  } finally {
    Object.assign(stdout, { write: originals.stdout });
    Object.assign(stderr, { write: originals.stderr });
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
  const code = Number(process.exitCode);
  process.exitCode = 0;
  return { code, ...texts };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { leftover } from './leftovers.js';

export interface UpOptions {
  /** As `npm run up` and not as `node scripts/up.mjs`. */
  readonly npm?: boolean;
  /** As `npx switchyard up`. */
  readonly npx?: boolean;
}

const COMMANDS = {
  node: [process.execPath, ['scripts/up.mjs']],
  npm: ['npm', ['run', 'up', '--']],
  npx: ['npx', ['--no', 'switchyard', 'up']],
} as const;

/** One run of `npm run up` as a person meets it: what it says, how it ends. */
export class UpProcess {
  readonly child: ChildProcess;
  output = '';

  /** @param settings environment, such as SWITCHYARD_DATA_DIR */
  constructor(
    args: readonly string[],
    settings: Readonly<Record<string, string>>,
    { npm, npx }: UpOptions = {},
  ) {
    const [file, first] = COMMANDS[npx ? 'npx' : npm ? 'npm' : 'node'];
    // No test fetches models that it does not ask for.
    const models = npx || args.includes('--models') ? [] : ['--models', 'none'];
    this.child = spawn(file, [...first, ...models, ...args], {
      env: { ...process.env, NODE_OPTIONS: '', ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer): string => (this.output += chunk.toString());
    this.child.stdout?.on('data', keep);
    this.child.stderr?.on('data', keep);
    leftover(() => this.end());
  }

  /** Resolves once `text` was written; rejects when the process ends without it. */
  async says(text: string): Promise<void> {
    while (!this.output.includes(text)) {
      if (this.#ended) throw new Error(`ended without saying "${text}":\n${this.output}`);
      await Promise.race([once(this.child.stderr!, 'data'), once(this.child, 'exit')]);
    }
  }

  async exitCode(): Promise<number | null> {
    if (!this.#ended) await once(this.child, 'close');
    return this.child.exitCode;
  }

  /** Idempotent. */
  async end(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.exitCode();
  }

  get #ended(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }
}

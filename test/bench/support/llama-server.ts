import { spawn } from 'node:child_process';
import { symlink } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { freePort } from '../../support/free-port.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { pause } from '../../support/waiting.js';

export interface ServerShape {
  readonly modelFile: string;
  readonly rows: number;
  readonly contextTokens: number;
  readonly stepTokens: number;
}

/**
 * Said, so that no release differs without a word. No prompt of the load comes twice:
 * this server computes it whole, as ours does, instead of all but the two tokens that
 * every prompt begins with, and keeps no copies (8 GiB) of what will not come back.
 */
const LIKE_OURS = [
  '-ctk',
  'f16',
  '-ctv',
  'f16',
  '-fa',
  'auto',
  '--no-kv-unified',
  '-cram',
  '0',
  '--no-cache-prompt',
];

/** llama.cpp's own server, from a binary that somebody built, on a free port. */
export class LlamaServer implements AsyncDisposable {
  private constructor(
    private readonly child: ReturnType<typeof spawn>,
    readonly url: string,
    private readonly folder: string,
  ) {}

  get pid(): number | undefined {
    return this.child.pid;
  }

  /**
   * @param kernels library of CPU kernels in place of its own: then two servers differ in
   *   all but these
   */
  static async start(binary: string, shape: ServerShape, kernels?: string): Promise<LlamaServer> {
    const folder = temporaryFolder();
    if (kernels !== undefined) await symlink(kernels, join(folder, 'libggml-cpu.so.0'));
    const port = await freePort();
    const { modelFile, rows, contextTokens, stepTokens } = shape;
    // As our defaults: half of the cores for a run of one token, all of them for others.
    const cores = Math.min(16, availableParallelism());
    const numbers = {
      c: rows * contextTokens,
      np: rows,
      b: stepTokens,
      ub: stepTokens,
      t: Math.max(1, Math.floor(cores / 2)),
      tb: cores,
    };
    const args = Object.entries(numbers).flatMap(([name, value]) => [`-${name}`, String(value)]);
    const fixed = [
      '-m',
      modelFile,
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--log-disable',
      ...LIKE_OURS,
    ];
    const libraries = [folder, dirname(binary), process.env.LD_LIBRARY_PATH]
      .filter(Boolean)
      .join(delimiter);
    const env = { ...process.env, LD_LIBRARY_PATH: libraries };
    const child = spawn(binary, [...fixed, ...args], { stdio: 'ignore', env });
    const server = new LlamaServer(child, `http://127.0.0.1:${port}`, folder);
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${binary} ended with ${child.exitCode}.`);
      const response = await fetch(`${server.url}/health`).catch(() => undefined);
      if (response?.ok) return server;
      await pause(100);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise(resolve => this.child.once('exit', resolve));
    // It has nothing to lose, and would wait for connections.
    this.child.kill('SIGKILL');
    await ended;
  }
}

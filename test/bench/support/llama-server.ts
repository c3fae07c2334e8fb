import { spawn } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { freePort } from '../../support/free-port.js';
import { pause } from '../../support/waiting.js';

export interface ServerShape {
  readonly modelFile: string;
  readonly rows: number;
  readonly contextTokens: number;
  readonly stepTokens: number;
  readonly threads: number;
}

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

  /** @param kernels library of CPU kernels in place of its own: then two servers differ in all but these */
  static async start(binary: string, shape: ServerShape, kernels?: string): Promise<LlamaServer> {
    const folder = await mkdtemp(join(tmpdir(), 'switchyard-peer-'));
    if (kernels !== undefined) await symlink(kernels, join(folder, 'libggml-cpu.so.0'));
    const port = await freePort();
    const { modelFile, rows, contextTokens, stepTokens, threads } = shape;
    const numbers = { c: rows * contextTokens, np: rows, b: stepTokens, ub: stepTokens, t: threads, tb: threads };
    const args = Object.entries(numbers).flatMap(([name, value]) => [`-${name}`, String(value)]);
    const fixed = ['-m', modelFile, '--host', '127.0.0.1', '--port', String(port), '--log-disable'];
    const libraries = [folder, dirname(binary), process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter);
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
    this.child.kill('SIGTERM');
    await ended;
    await rm(this.folder, { recursive: true, force: true });
  }
}

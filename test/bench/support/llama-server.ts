import { spawn } from 'node:child_process';
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
  ) {}

  static async start(binary: string, shape: ServerShape): Promise<LlamaServer> {
    const port = await freePort();
    const { modelFile, rows, contextTokens, stepTokens, threads } = shape;
    const numbers = { c: rows * contextTokens, np: rows, b: stepTokens, ub: stepTokens, t: threads, tb: threads };
    const args = Object.entries(numbers).flatMap(([name, value]) => [`-${name}`, String(value)]);
    const fixed = ['-m', modelFile, '--host', '127.0.0.1', '--port', String(port), '--log-disable'];
    const child = spawn(binary, [...fixed, ...args], { stdio: 'ignore' });
    const server = new LlamaServer(child, `http://127.0.0.1:${port}`);
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
  }
}

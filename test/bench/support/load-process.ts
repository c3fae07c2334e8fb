import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type LoadJob, type LoadReport } from './load-job.js';
import { siblingModule } from './sibling-module.js';

/**
 * The load generator in its own process, so that its work and the gateway's never share
 * an event loop.
 */
export class LoadProcess implements AsyncDisposable {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(siblingModule(import.meta.url, './load-generator'), {
      serialization: 'advanced',
    });
  }

  /**
   * One job at a time. Rejects when the generator dies, and on any status but 200, unless
   * the job wants those: a fast refusal is no throughput.
   */
  async run(job: LoadJob): Promise<LoadReport> {
    const dead = new AbortController();
    const exited = once(this.#child, 'exit', { signal: dead.signal }).then(() => {
      throw new Error('the load generator died');
    });
    this.#child.send(job);
    const [report] = (await Promise.race([
      once(this.#child, 'message', { signal: dead.signal }),
      exited,
    ])) as [LoadReport];
    exited.catch(() => undefined);
    dead.abort();
    const statuses = Object.keys(report.statuses);
    if (!job.anyStatus && (statuses.length === 0 || statuses.some(status => status !== '200'))) {
      throw new Error(
        `expected answers of status 200 only, got ${JSON.stringify(report.statuses)}`,
      );
    }
    return report;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.disconnect();
    await exited;
  }
}

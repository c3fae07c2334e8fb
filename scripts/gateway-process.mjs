import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { inRoot, ROOT } from './setup/command.mjs';
import { say, warn } from './setup/report.mjs';

/**
 * Beyond its own grace the gateway gets this long to settle the rest and close; then it
 * hangs and is killed.
 */
const KILL_AFTER_GRACE_MS = 10_000;

/** The gateway as a child; Ctrl-C and SIGTERM here become one orderly SIGTERM there. */
export class GatewayProcess {
  #child;
  #graceMs;
  #stopping = new AbortController();
  exitCode;

  constructor(node, { env, graceMs, cwd = ROOT }) {
    this.#graceMs = graceMs;
    // Its own process group: a terminal's Ctrl-C would otherwise reach the workers before
    // the gateway has drained.
    this.#child = spawn(node, [inRoot('dist/main.gateway.js')], {
      cwd,
      env,
      // The channel is never used: it closes when this process dies, also by SIGKILL, and
      // then the gateway drains.
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    });
    this.exitCode = new Promise(resolve => {
      this.#child.once('error', error => {
        warn(`The gateway cannot be started: ${error.message}`);
        this.#ended(resolve, 1);
      });
      this.#child.once('exit', (code, signal) =>
        this.#ended(resolve, code ?? 128 + (constants.signals[signal] ?? 1)),
      );
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, this.#stop);
  }

  /** Aborted once the gateway stops or is being stopped. */
  get stopping() {
    return this.#stopping.signal;
  }

  #stop = () => {
    if (this.#stopping.signal.aborted) return say('Still draining; nothing more is needed.');
    say(`\nDraining: requests in flight get up to ${this.#graceMs / 1000} s.`);
    this.#stopping.abort();
    this.#child.kill('SIGTERM');
    const kill = () => {
      warn('The gateway did not stop in time and is killed.');
      this.#child.kill('SIGKILL');
    };
    setTimeout(kill, this.#graceMs + KILL_AFTER_GRACE_MS).unref();
  };

  #ended(resolve, code) {
    this.#stopping.abort();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, this.#stop);
    if (code === 0) say('Stopped.');
    else warn(`The gateway ended with code ${code}.`);
    resolve(code);
  }
}

/**
 * The process itself as environment of a spec file: no virtual machine (see
 * `native-runtime.mjs`).
 */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { noteCpuTime } from './cpu-time.mjs';

/** What a spec file does not place elsewhere: the data of the clone are the person's. */
const DATA = join(tmpdir(), `switchyard-data-${process.pid}`);

/** Where Node keeps what `fetch` connects with. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/** An answer that no test read to its end holds its connection, and that this process. */
async function closeConnections() {
  const { [DISPATCHER]: dispatcher } = globalThis;
  if (!dispatcher) return;
  globalThis[DISPATCHER] = new dispatcher.constructor();
  await dispatcher.destroy();
}

const atLeast = (least, ms) => Math.max(least, ms ?? 0);

export default class NativeEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimersModern;
  #path;
  /** Suites whose `beforeAll` failed. */
  #notStarted = new Set();
  #kept = { console: globalThis.console, exit: process.exit, env: { ...process.env } };

  constructor({ projectConfig }, { testPath } = {}) {
    this.#path = testPath;
    this.fakeTimersModern = new ModernFakeTimers({
      config: projectConfig,
      global: globalThis,
    });
  }

  /** As in a new process: Nest's and pino's loggers and the metrics are static. */
  async setup() {
    process.env.SWITCHYARD_DATA_DIR = DATA;
    const { ConsoleLogger, Logger } = await import('@nestjs/common');
    Logger.overrideLogger(new ConsoleLogger());
    const { resetRootLogger } = await import(
      new URL('rootLogger.js', import.meta.resolve('nestjs-pino'))
    );
    resetRootLogger();
    const { register } = await import('prom-client');
    register.clear();
  }

  /**
   * A whole suite waits for processes: its hooks and tests get at least the time of the
   * configuration, so that a busy machine is slow and not red. Of a suite that did not
   * start, what its `afterAll` says of things that are not there hides the reason.
   */
  handleTestEvent(event, { testTimeout, unhandledErrors }) {
    if (event.name === 'hook_start') event.hook.timeout = atLeast(testTimeout, event.hook.timeout);
    if (event.name === 'test_fn_start')
      event.test.timeout = atLeast(testTimeout, event.test.timeout);
    if (event.name !== 'hook_failure') return;
    if (event.hook.type === 'beforeAll') this.#notStarted.add(event.describeBlock);
    if (event.hook.type === 'afterAll' && this.#isPartOfOne(event.describeBlock))
      unhandledErrors.pop();
  }

  #isPartOfOne(suite) {
    return suite !== undefined && (this.#notStarted.has(suite) || this.#isPartOfOne(suite.parent));
  }

  async teardown() {
    await globalThis[Symbol.for('switchyard.jest.leftovers')]?.();
    await closeConnections();
    await rm(DATA, { recursive: true, force: true });
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    const { console, exit, env } = this.#kept;
    globalThis.console = console;
    process.exit = exit;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    noteCpuTime(this.#path);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
}

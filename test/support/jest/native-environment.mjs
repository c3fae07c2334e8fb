/**
 * The process itself as environment of a spec file: no virtual machine (see
 * `native-runtime.mjs`).
 */
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

export default class NativeEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimersModern;
  #kept = { console: globalThis.console, exit: process.exit, env: { ...process.env } };

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({
      config: projectConfig,
      global: globalThis,
    });
  }

  /** As in a new process: Nest's and pino's loggers and the metrics are static. */
  async setup() {
    const { ConsoleLogger, Logger } = await import('@nestjs/common');
    Logger.overrideLogger(new ConsoleLogger());
    const { resetRootLogger } = await import(
      new URL('rootLogger.js', import.meta.resolve('nestjs-pino'))
    );
    resetRootLogger();
    const { register } = await import('prom-client');
    register.clear();
  }

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    const { console, exit, env } = this.#kept;
    globalThis.console = console;
    process.exit = exit;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
}

/**
 * Loads specs as plain Node loads them, in place of Jest's virtual machine: the modules
 * of a worker process are loaded once, not once per file (Nest alone takes seconds). Jest
 * still schedules, times, reports and limits memory. What a spec changes in the process
 * it undoes itself, as between two tests of one file; `native-environment.mjs` restores
 * the variables of the environment.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { sourceMaps } from '../typescript-loader.mjs';
import './globals-hook.mjs';

const load = createRequire(import.meta.url);
/** Where `globals.mjs` finds what belongs to the file that runs. */
const GLOBALS = Symbol.for('switchyard.jest.globals');
/** Jest's own keys. */
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');
const TEST_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');

export default class NativeRuntime {
  #environment;

  constructor(_config, environment) {
    this.#environment = environment;
  }

  /**
   * The test framework keeps the state of a file in its module: each file gets a new one.
   */
  requireInternalModule(path) {
    delete globalThis[EVENT_HANDLERS];
    delete globalThis[TEST_TIMEOUT];
    delete load.cache[path];
    return load(path);
  }

  setGlobalsForRuntime(globals) {
    globalThis[GLOBALS] = { ...globals, jest: jestObject(this.#environment) };
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    return import(pathToFileURL(path).href);
  }

  requireModule(path) {
    return load(path);
  }

  getSourceMaps() {
    return sourceMaps;
  }

  getAllCoverageInfoCopy() {
    return undefined;
  }

  enterTestCode() {
    // Only a virtual machine has a border to cross.
  }

  leaveTestCode() {
    // As above.
  }

  teardown() {
    // Modules stay for the next file.
  }
}

/** The part of `jest` that works without replaced modules. */
function jestObject({ moduleMocker, fakeTimersModern: timers }) {
  const jest = {
    fn: moduleMocker.fn.bind(moduleMocker),
    spyOn: moduleMocker.spyOn.bind(moduleMocker),
    restoreAllMocks: chained(() => moduleMocker.restoreAllMocks()),
    useFakeTimers: chained(options => timers.useFakeTimers(options)),
    useRealTimers: chained(() => timers.useRealTimers()),
    setSystemTime: now => timers.setSystemTime(now),
    advanceTimersByTime: ms => timers.advanceTimersByTime(ms),
    advanceTimersByTimeAsync: ms => timers.advanceTimersByTimeAsync(ms),
    getTimerCount: () => timers.getTimerCount(),
    setTimeout: chained(ms => {
      globalThis[TEST_TIMEOUT] = ms;
    }),
  };
  return jest;

  function chained(act) {
    return value => {
      act(value);
      return jest;
    };
  }
}

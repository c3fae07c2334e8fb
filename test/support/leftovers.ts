import { AsyncLocalStorage } from 'node:async_hooks';
import { killGuarded } from '@switchyard/engine-api/process/child-process.js';

/**
 * What a failed or timed-out test left behind must not keep jest from ending: at the end
 * of each spec file (`jest/native-environment.mjs`), whatever is still there is stopped,
 * and processes that do not want to are killed. Tests that pass stop their things
 * themselves.
 */
type Stop = () => unknown;

const ofFile = new Set<Stop>();
const ofRun = new Set<Stop>();
const owner = new AsyncLocalStorage<Set<Stop>>();

/** `stop` is idempotent: most often it has been called by then. */
export function leftover(stop: Stop): void {
  (owner.getStore() ?? ofFile).add(stop);
}

/** What `start` starts lives until jest ends (`jest/teardown.mjs`): files share it. */
export function startShared<T>(start: () => Promise<T>): Promise<T> {
  return owner.run(ofRun, start);
}

/** Longest wait for what will not stop; by then its processes have been killed. */
const LIMIT_MS = 10_000;

async function stopLeftovers(): Promise<void> {
  // Begun first: a supervisor that is closing starts no successor of the process
  // that is killed.
  const stopping = stopAll(ofFile);
  killGuarded();
  let limit: NodeJS.Timeout | undefined;
  await Promise.race([stopping, new Promise(expired => (limit = setTimeout(expired, LIMIT_MS)))]);
  clearTimeout(limit);
}

/** @throws the first error */
async function stopShared(): Promise<void> {
  for (const outcome of await stopAll(ofRun))
    if (outcome.status === 'rejected') throw outcome.reason;
}

function stopAll(stops: Set<Stop>): Promise<readonly PromiseSettledResult<unknown>[]> {
  const all = [...stops].map(stop => Promise.resolve().then(stop));
  stops.clear();
  return Promise.allSettled(all);
}

Object.assign(globalThis, {
  [Symbol.for('switchyard.jest.leftovers')]: stopLeftovers,
  [Symbol.for('switchyard.jest.shared')]: stopShared,
});

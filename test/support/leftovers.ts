import { afterAll } from '@jest/globals';
import { killGuarded } from '@switchyard/engine-api/process/child-process.js';
import { FixtureWorker } from './fixture-worker.js';

/**
 * What a failed or timed-out test left behind must not keep jest from ending: at the end
 * of each spec file, whatever is still there is stopped, and processes that do not want
 * to are killed. Tests that pass stop their things themselves.
 */
const stops = new Set<() => Promise<unknown>>();

/** `stop` is idempotent: most often it has been called by then. */
export function leftover(stop: () => Promise<unknown>): void {
  stops.add(stop);
}

/** Longest wait for what will not stop; by then its processes have been killed. */
const LIMIT_MS = 10_000;

afterAll(async () => {
  // Begun first: a supervisor that is closing starts no successor of the process
  // that is killed.
  const stopping = Promise.allSettled([...stops].map(stop => stop()));
  killGuarded();
  for (const worker of FixtureWorker.started) worker.stop();
  let limit: NodeJS.Timeout | undefined;
  await Promise.race([stopping, new Promise(expired => (limit = setTimeout(expired, LIMIT_MS)))]);
  clearTimeout(limit);
  stops.clear();
});

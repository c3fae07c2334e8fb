import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const BUDGET = new URL('../../../config/test-budget.json', import.meta.url);
const { fileSeconds } = JSON.parse(readFileSync(BUDGET, 'utf8'));

/** A file that starts late and takes long is waited for by all workers. */
export default class LongestFirst {
  sort(tests) {
    const ranked = tests.map(test => ({ test, ...rank(test) }));
    return ranked
      .sort((a, b) => b.seconds - a.seconds || b.bytes - a.bytes)
      .map(({ test }) => test);
  }

  cacheResults() {
    // `npm test -- --save-budget` writes what the order follows.
  }
}

/** Models that are not there yet are fetched while longer files run. */
const FETCHES = /fetch(?:Real|First)Models/;
const LATER_S = 30;

function rank({ path, context }) {
  const text = readFileSync(path);
  const seconds = fileSeconds[relative(context.config.rootDir, path)] ?? 0;
  return { seconds: FETCHES.test(text) ? Math.min(seconds, LATER_S) : seconds, bytes: text.length };
}

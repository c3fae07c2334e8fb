import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { GOLDEN_NAMES, goldenText, testTitles } from '../support/golden.js';

describe('golden files', () => {
  // A change on purpose: npm run golden, and the diff is reviewed.
  it.each(GOLDEN_NAMES)('%s is what the code says', async name => {
    expect(await goldenText(name)).toBe(readFileSync(`test/golden/${name}`, 'utf8'));
  });

  it('keeps every test title, or names the title that covers it now', () => {
    const now = new Set(testTitles());
    const covered = coveredTitles();
    const before = readFileSync('test/golden/test-titles.txt', 'utf8').trimEnd().split('\n');
    expect(before.filter(title => !now.has(title) && !now.has(covered.get(title) ?? ''))).toEqual(
      [],
    );
  });
});

/** Lines `old title => new title`. */
function coveredTitles(): Map<string, string> {
  const lines = readFileSync('test/golden/covered-titles.txt', 'utf8').split('\n');
  const pairs = lines
    .filter(line => line.includes(' => '))
    .map(line => line.split(' => ') as [string, string]);
  return new Map(pairs);
}

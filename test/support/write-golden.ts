import { writeFileSync } from 'node:fs';
import { GOLDEN_NAMES, goldenText, testTitles } from './golden.js';

/**
 * `npm run golden`: for a change that is meant to change what users depend on. The diff
 * is part of the review.
 */
for (const name of GOLDEN_NAMES) writeFileSync(`test/golden/${name}`, await goldenText(name));
writeFileSync('test/golden/test-titles.txt', `${testTitles().join('\n')}\n`);

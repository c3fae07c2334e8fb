import { describe, expect, it } from '@jest/globals';
import { mergedMetrics } from './metrics-server.js';

const FAMILY = '# HELP a_total What a is.\n# TYPE a_total counter';

describe('mergedMetrics', () => {
  it('makes one family of a metric that two processes have, and keeps all others', () => {
    const own = `${FAMILY}\na_total{who="x"} 1\na_total{who="y"} 2\n\n# HELP b B.\n# TYPE b gauge\nb 3\n`;
    const other = `${FAMILY}\na_total{who="z"} 4\n\n# HELP c C.\n# TYPE c gauge\n`;
    expect(mergedMetrics([own, other])).toBe(
      `${FAMILY}\na_total{who="x"} 1\na_total{who="y"} 2\na_total{who="z"} 4\n\n` +
        `# HELP b B.\n# TYPE b gauge\nb 3\n\n# HELP c C.\n# TYPE c gauge\n`,
    );
  });

  it('is the one text there is when the other process does not answer', () => {
    expect(mergedMetrics([`${FAMILY}\na_total 1\n`, ''])).toBe(`${FAMILY}\na_total 1\n`);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { sizeByArea } from '../support/code-size.js';

const budget = JSON.parse(readFileSync('config/size-budget.json', 'utf8')) as Record<
  string,
  number
>;

describe('size in tokens', () => {
  const areas = sizeByArea();

  // What adds, pays: make the area smaller elsewhere, then `npm run measure -- --write`
  // lowers its budget.
  it.each(Object.keys(areas))('%s is within its budget', name => {
    expect(areas[name]?.tokens).toBeLessThanOrEqual(budget[name] ?? 0);
  });

  it('has no budget for an area that is gone', () => {
    expect(Object.keys(budget).filter(name => !areas[name])).toEqual([]);
  });
});

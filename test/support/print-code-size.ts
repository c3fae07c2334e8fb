import { readFileSync, writeFileSync } from 'node:fs';
import { type CodeSize, sizeByArea, sumOf } from './code-size.js';
import * as habits from './habits.js';

/**
 * `npm run measure [-- --write]`: the size of each area beside its budget, and what is found of
 * each habit. --write lowers budgets, never raises one.
 */
const BUDGET = 'config/size-budget.json';
const budget = JSON.parse(readFileSync(BUDGET, 'utf8')) as Record<string, number>;
const areas = sizeByArea();
const names = Object.keys(areas).sort((a, b) => (areas[b]?.tokens ?? 0) - (areas[a]?.tokens ?? 0));

const row = (cells: readonly (string | number)[]): string =>
  cells.map((cell, at) => (at === 0 ? String(cell).padEnd(22) : String(cell).padStart(9))).join('');
const cellsOf = (size: CodeSize, limit: number | string): readonly (string | number)[] => [
  ...[
    size.tokens,
    limit,
    (size.tokens / size.codeLines).toFixed(2),
    size.exports,
    size.classes,
    size.types,
  ],
  ...[size.longFunctions, size.complexFunctions],
];
console.log(
  row([
    'area',
    'tokens',
    'budget',
    'per line',
    'exports',
    'classes',
    'types',
    '>40 lines',
    '>10 ways',
  ]),
);
for (const name of names) console.log(row([name, ...cellsOf(areas[name]!, budget[name] ?? '-')]));
const product = sumOf(names.filter(name => name !== 'elsewhere').map(name => areas[name]!));
console.log(row(['src and packages', ...cellsOf(product, '')]));

for (const [name, find] of Object.entries(habits)) {
  const found = find();
  const places = Array.isArray(found)
    ? found
    : Object.entries(found).map(([field, at]) => [field, at].flat().join(' '));
  console.log([`\n${name}: ${places.length}`, ...places].join('\n  '));
}

if (process.argv.includes('--write')) {
  const lowered = names.map(
    name => [name, Math.min(areas[name]?.tokens ?? 0, budget[name] ?? Infinity)] as const,
  );
  writeFileSync(BUDGET, `${JSON.stringify(Object.fromEntries([...lowered].sort()), null, 2)}\n`);
}

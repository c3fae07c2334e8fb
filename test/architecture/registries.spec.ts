import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { REFERENCE_TABLES, withTables } from '../../scripts/docs/reference-tables.js';
import { ERROR_REGISTRY } from '../../src/contracts/errors/error-registry.js';
import { SETTING_PATHS } from '../../src/platform/config/settings.js';
import { METRICS } from '../../src/platform/metrics/registry.js';
import { filesBelow, SOURCES, SPECS } from '../support/repository-files.js';

/** First code span of every row or item of the generated parts of a page in docs/reference. */
function documented(name: string) {
  const page = readFileSync(`docs/reference/${name}.md`, 'utf8');
  const parts = page.matchAll(new RegExp(`<!-- (?:advanced )?${name}:start -->([^]*?)<!--`, 'g'));
  const items = [...parts].flatMap(([, part = '']) => [...part.matchAll(/^(?:\| |- )`([^`]+)`/gm)]);
  return items.map(([, found]) => found).sort();
}

const sources = (...folders: readonly string[]) => filesBelow(folders, SOURCES);

const textOf = (files: readonly string[]) =>
  files.map(file => readFileSync(file, 'utf8')).join('\n');

describe('reference tables', () => {
  it.each(Object.keys(REFERENCE_TABLES))(
    'of %s are what `npm run docs` makes of the registries',
    file => {
      const text = readFileSync(file, 'utf8');
      expect(withTables(text, file)).toBe(text);
    },
  );

  it.each<[string, readonly string[]]>([
    ['errors', Object.keys(ERROR_REGISTRY)],
    ['metrics', Object.keys(METRICS)],
    ['settings', SETTING_PATHS],
  ])('name all %s, and none that does not exist', (name, registered) => {
    expect(documented(name)).toEqual(registered.toSorted());
  });
});

describe('registries and code', () => {
  it('export every metric of the table from exactly one place', () => {
    const provided = [
      ...textOf(
        sources('src/gateway', 'src/batch', 'src/platform/storage', 'src/platform/dependencies'),
      ).matchAll(/(?:metricProvider|(?<!Inject)Metric)\(\s*'(\w+)'/g),
    ].map(([, name]) => name);
    expect(provided.sort()).toEqual(Object.keys(METRICS).sort());
  });

  /** In some spec the statement that names the metric compares something with it. */
  it('test the value of every metric', () => {
    const specs = filesBelow(['packages', 'src', 'test'], SPECS);
    const code = textOf(specs.filter(file => !file.includes('/architecture/')));
    const isTested = (name: string) =>
      new RegExp(`\\b${name}(_sum|_count)?\\b[^;]*(\\.to[A-Z]\\w+\\(|=== \\d|\\} \\d)`).test(code);
    expect(Object.keys(METRICS).filter(name => !isTested(name))).toEqual([]);
  });

  it('use every setting: none is accepted and then ignored', () => {
    // What becomes something else there: the loader's own checks, and the rules that a
    // worker process is told.
    const readers = ['load-config', 'worker-spec'].map(name => `src/platform/config/${name}.ts`);
    const files = [
      ...sources('src', 'packages').filter(file => !file.startsWith('src/platform/config/')),
      ...readers,
    ];
    const texts = files.map(file => readFileSync(file, 'utf8'));
    const unused = SETTING_PATHS.filter(path => !texts.some(code => readsSetting(code, path)));
    expect(unused).toEqual([]);
  });

  it('raise every error code somewhere', () => {
    const raised = sources('packages', 'src').filter(
      file => !/(domain|coded)-error\.ts$/.test(file),
    );
    const code = textOf(raised);
    expect(Object.keys(ERROR_REGISTRY).filter(name => !code.includes(`'${name}'`))).toEqual([]);
  });

  it('reads the environment in src/platform/config only', () => {
    const readers = sources('src').filter(file =>
      readFileSync(file, 'utf8').includes('process.env'),
    );
    expect(readers.filter(file => !file.startsWith('src/platform/config/'))).toEqual([]);
  });
});

const camelCase = (part: string) =>
  part.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const partsOf = (path: string) => path.split('.').map(camelCase) as [section: string, name: string];
const SETTINGS = SETTING_PATHS.map(partsOf);

/**
 * The whole path, `queue.maxRequests`. A name that only one section has is enough by
 * itself; of others the file must name the section as well, and reading the name from
 * another section does not count.
 */
function readsSetting(code: string, path: string) {
  const [section, name] = partsOf(path);
  const others = SETTINGS.filter(([other, same]) => same === name && other !== section).map(
    ([other]) => other,
  );
  if (others.length === 0) return new RegExp(`\\b${name}\\b`).test(code);
  const own = code.replaceAll(new RegExp(`\\b(?:${others.join('|')})\\??\\.${name}\\b`, 'g'), '');
  return new RegExp(`\\b${section}\\b`).test(own) && new RegExp(`\\b${name}\\b`).test(own);
}

describe('metric names', () => {
  it('end in _total exactly where the metric is a counter, as Prometheus asks', () => {
    const wrong = Object.entries(METRICS).filter(
      ([name, { type }]) => name.endsWith('_total') !== (type === 'counter'),
    );
    expect(wrong.map(([name]) => name)).toEqual([]);
  });
});

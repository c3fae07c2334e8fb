import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { filesBelow } from '../support/repository-files.js';

const PAGES = [
  'README.md',
  ...filesBelow(['docs'], /\.md$/).filter(name => name !== 'docs/decisions.md'),
];
/** What decides and what changed is about the product as well. */
const EVERYWHERE = [...PAGES, 'docs/decisions.md', 'CHANGELOG.md'];
const read = (page: string) => readFileSync(page, 'utf8').replaceAll(/\s+/g, ' ');
const RUNS = 'docs/reference/runs.md';

/** Rows of the table of runs: page and state. */
const runs = readFileSync(RUNS, 'utf8')
  .split('\n')
  .map(line => line.split('|').map(cell => cell.trim()))
  .filter(cells => cells[2]?.startsWith('['))
  .flatMap(([, , pages = '', state = '', when = '']) =>
    [...pages.matchAll(/\(([^)]+)\)/g)].map(([, page = '']) => ({ page, state, when })),
  );

/** The command line's `not run` is what a check skipped, and no statement about a test. */
const NOT_RUN =
  /\b(not run\b|has not run|(has|have|was) never (been )?(run|installed)|never run on|not installed into|no GPU was at hand)/i;
const STATES_IT = PAGES.filter(
  page =>
    page !== RUNS &&
    !page.endsWith('/cli.md') &&
    !page.endsWith('failure-model.md') &&
    NOT_RUN.test(read(page)),
);

const { catalogue } = parse(readFileSync('config/catalogue.yaml', 'utf8')) as {
  catalogue: readonly { name: string; entry: { kind: string } }[];
};
const starter = readFileSync('src/cli/models/starter.ts', 'utf8');
const routes = readFileSync('docs/reference/http-api.md', 'utf8');
const interimMs = Number(
  /`realtime\.interim_ms` \(`(\d+)`/.exec(read('docs/reference/settings.md'))?.[1],
);
const hasMessages = routes.includes('/v1/messages');
/** The last column of its row: what is not found there. */
const lacks = (product: string, what: string): RegExp =>
  new RegExp(`\\[${product}\\]\\([^|]*\\|[^|]*\\|[^|]*\\|[^|]*(${what})`, 'i');
const ranOnGpu = runs.some(({ page, state }) => page.includes('gpu') && state === 'run');

/** What a page says, and whether that is so. */
const CLAIMS: readonly { readonly says: RegExp; readonly holds: boolean }[] = [
  { says: /no Anthropic Messages route/i, holds: !hasMessages },
  { says: /does better than Switchyard[^#]*\bMessages\b/, holds: !hasMessages },
  { says: lacks('SMG', 'priorit|preempt|tool'), holds: false },
  { says: lacks('Dynamo', 'priorit|migration|planner'), holds: false },
  { says: /\[Speech to Speech\]\([^)]*\) \(0\./, holds: false },
  { says: /words while they are spoken/i, holds: interimMs > 0 },
  { says: /\bonly\b[^.]*`stream`[^.]*\bwords\b[^.]*\bspoken/i, holds: interimMs === 0 },
  // The time of the device counts (D-49).
  { says: /(limit|deadline)[^.]* only while a worker has/i, holds: false },
  { says: /one line per item at info, in both modes/i, holds: false },
  { says: /no Ollama route/i, holds: !routes.includes('/api/chat') },
  {
    says: /default (configuration|set)[^.]* (has|have) (none|no)|starter set has no/i,
    holds: !catalogue.some(({ name, entry }) => entry.kind === 'llm' && starter.includes(name)),
  },
  { says: /GPU code was tested\?\*\* None|no GPU was (ever )?(tested|used)/i, holds: !ranOnGpu },
  { says: /\| keys \| (hashes in the keys file|`auth\.keys_file`) \|/, holds: false },
];

describe('the manual', () => {
  it('says what was not run in one table, which the pages of its rows link', () => {
    const listed = runs
      .filter(({ state }) => state === 'not run')
      .map(({ page }) => basename(page));
    expect(STATES_IT.filter(page => !listed.includes(basename(page)))).toEqual([]);
    const linking = PAGES.filter(page => /\]\([^)]*runs\.md\)/.test(read(page)));
    expect(listed.filter(name => !linking.some(page => basename(page) === name))).toEqual([]);
  });

  it('gives a date and a machine for every run', () => {
    const bare = runs.filter(
      ({ state, when }) => state.startsWith('run') && !/^20\d\d-\d\d-\d\d, ./.test(when),
    );
    expect(bare).toEqual([]);
  });

  it.each(CLAIMS.filter(({ holds }) => !holds))(
    'says nowhere what the product does not do any more: $says',
    ({ says }) => {
      expect(EVERYWHERE.filter(page => says.test(read(page)))).toEqual([]);
    },
  );

  it('says with D-07 what the inference limit counts', () => {
    expect(read('docs/decisions.md')).toMatch(/\*\*D-07 [^*]*\*\*[^*]*time of the device only/);
  });

  it.each([
    [
      'operate/going-to-production',
      'with asynchronous replication, a failover loses the last rows',
    ],
    ['guides/choose-an-engine', '`gpt-4o-transcribe-diarize` is 404 until a model has that name'],
  ])('warns in %s: %s', (page, says) => expect(read(`docs/${page}.md`)).toContain(says));

  it('names what a restore needs: keys and added models', () => {
    const backup = read('docs/operate/backup-restore.md');
    for (const part of ['keys, usage, audit log', 'data/models.yaml', 'auth.keys_file'])
      expect(backup).toContain(part);
  });
});

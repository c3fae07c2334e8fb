import { type summary } from './turn-table.js';

type Table = ReturnType<typeof summary>;

interface Row {
  readonly label: string;
  readonly scene: string;
  /** Their medians stand in one cell. */
  readonly figures: readonly string[];
  readonly digits: number;
}

const ROWS: readonly Row[] = [
  ...[1, 8, 16, 64, 512].map(callers =>
    fraction(`c = ${callers}: fraction of the ideal`, `20 ms, c=${callers}`),
  ),
  ...[8, 64].map(callers =>
    fraction(`12 + n ms, c = ${callers}: fraction`, `12 + n ms, c=${callers}`),
  ),
  fraction('0 ms, c = 64: in 400 requests/s', '0 ms, c=64'),
  {
    label: 'CPU ms per request, c = 64',
    scene: '20 ms, c=64',
    figures: ['cpuMs'],
    digits: 2,
  },
  {
    label: 'resident memory, c = 64, MiB',
    scene: '20 ms, c=64',
    figures: ['rssMib'],
    digits: 0,
  },
  { label: 'lone caller, p50 ms', scene: '20 ms, c=1', figures: ['p50Ms'], digits: 1 },
  ...[50, 90].map(load => milliseconds(`load ${load} %`, `load ${load} %`, 'p50Ms', 'p99Ms')),
  milliseconds('urgent beside 1,000 queued', 'urgent beside 1,000 queued', 'p50Ms', 'p99Ms'),
  {
    label: '5 × overload: goodput',
    scene: '5 x overload',
    figures: ['goodput'],
    digits: 2,
  },
  milliseconds('the same: until it serves again', '5 x overload', 'drainedMs'),
  milliseconds('256 hang up: next answer', 'after 256 hung up', 'answeredMs'),
];

function fraction(label: string, scene: string): Row {
  return { label, scene, figures: ['fraction'], digits: 2 };
}

function milliseconds(label: string, scene: string, ...figures: string[]): Row {
  const names = figures.filter(name => /^p\d/.test(name)).map(name => name.slice(0, -2));
  return {
    label: `${label}, ${names.length > 0 ? `${names.join(' / ')} ` : ''}ms`,
    scene,
    figures,
    digits: 0,
  };
}

/** The medians in Markdown, as they stand in docs/explain/benchmarks.md. */
export function markdownTable(table: Table, kills: Readonly<Record<string, Kill>>): string {
  const names = Object.keys(kills);
  const line = (label: string, cells: readonly string[]): string =>
    `| ${[label, ...cells].join(' | ')} |`;
  return [
    line('', names),
    `|---|${'---|'.repeat(names.length)}`,
    ...ROWS.map(row =>
      line(
        row.label,
        names.map(name => cellOf(table, row, name)),
      ),
    ),
    line(
      'kill -9: lost of 200 under way',
      names.map(name => String(kills[name]!.lost)),
    ),
    line(
      'kill -9: serves again after, s',
      names.map(name => secondsOf(kills[name]!.servesAgainMs)),
    ),
  ].join('\n');
}

export interface Kill {
  /** Of 200 requests under way: without an answer, or with another one than 200. */
  readonly lost: number;
  /** null: not within the limit. */
  readonly servesAgainMs: number | null;
}

const secondsOf = (ms: number | null): string => (ms === null ? 'never' : (ms / 1000).toFixed(1));

function cellOf(table: Table, { scene, figures, digits }: Row, name: string): string {
  const medians = figures.map(figure => table[scene]?.[name]?.[figure]?.p50.toFixed(digits) ?? '-');
  return medians.join(' / ');
}

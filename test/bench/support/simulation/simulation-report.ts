import { type Distribution, distribution, rounded } from '../percentiles.js';
import { type VirtualGateway } from './virtual-gateway.js';

type ByPriority = Readonly<Record<'realtime' | 'batch', Distribution>>;

/** What one simulated stretch of time came to. */
export interface SimulationReport {
  readonly workers: number;
  readonly requests: number;
  readonly virtualS: number;
  readonly wallS: number;
  /** From arrival until a slot was leased. */
  readonly waitMs: ByPriority;
  /** From arrival until answered. */
  readonly answerMs: ByPriority;
  /** Share of the time that devices computed. */
  readonly utilisation: number;
  readonly groupSize: number;
  readonly refused: number;
  readonly timedOut: number;
  readonly cancelled: number;
  readonly promotions: number;
  /** Accepted and never settled, slots never returned: 0 and 0. */
  readonly unsettled: number;
  readonly slotsLeaked: number;
}

/**
 * Runs the gateway to its end. @param forMs what utilisation is taken of; default: until
 * the last answer
 */
export function simulate(gateway: VirtualGateway, forMs?: number): SimulationReport {
  const startedAtMs = performance.now();
  gateway.run();
  const { book, pool } = gateway;
  const { workers } = pool;
  const lastMs = forMs ?? book.lastAtMs;
  const busyMs = workers.reduce((sum, { deviceBusyMs }) => sum + deviceBusyMs, 0);
  const { realtime, batch } = book.settledBy;
  return {
    workers: workers.length,
    requests: book.accepted + book.refused,
    virtualS: rounded(book.lastAtMs / 1000),
    wallS: rounded((performance.now() - startedAtMs) / 1000),
    waitMs: byPriority(book.waitsMs),
    answerMs: byPriority(book.answersMs),
    utilisation: rounded(busyMs / (workers.length * lastMs)),
    groupSize: distribution(workers.flatMap(({ groupSizes }) => groupSizes)).mean,
    refused: book.refused,
    timedOut: realtime.failed + batch.failed,
    cancelled: realtime.cancelled + batch.cancelled,
    promotions: book.promotions,
    unsettled: gateway.unsettled,
    slotsLeaked: gateway.slotsInUse,
  };
}

const byPriority = ({
  realtime,
  batch,
}: Readonly<Record<'realtime' | 'batch', readonly number[]>>): ByPriority => ({
  realtime: distribution(realtime),
  batch: distribution(batch),
});

const COLUMNS = ['', 'p50', 'p95', 'p99', 'max'] as const;

/** A table of times and a line of facts, for people. */
export function describeReport(name: string, report: SimulationReport): string {
  const { workers, requests, virtualS, wallS } = report;
  const rows = (['waitMs', 'answerMs'] as const).flatMap(what =>
    (['realtime', 'batch'] as const).map(priority => {
      const { p50, p95, p99, max } = report[what][priority];
      return [`${priority} ${what.slice(0, -2)}`, ...[p50, p95, p99, max].map(inSeconds)];
    }),
  );
  const table = [COLUMNS, ...rows].map(
    ([first = '', ...cells]) => `    ${first.padEnd(16)}${cells.map(pad).join('')}`,
  );
  return [
    `  ${name}: ${requests} requests over ${workers} workers, ${virtualS} s of virtual time in ${wallS} s`,
    ...table,
    `    ${facts(report).join(', ')}`,
  ].join('\n');
}

const facts = (report: SimulationReport): string[] => [
  `utilisation ${percent(report.utilisation)}`,
  `group size ${report.groupSize.toFixed(2)}`,
  `aged ${report.promotions}`,
  `refused ${report.refused}`,
  `timed out ${report.timedOut}`,
  `cancelled ${report.cancelled}`,
];

/** Waits as a picture: one bar per power of two. */
export function drawWaits(
  series: Readonly<Record<'realtime' | 'batch', readonly number[]>>,
): string {
  return (['realtime', 'batch'] as const)
    .map(priority => drawOne(priority, series[priority]))
    .join('\n');
}

/** The last one: 65 s and more. */
const BARS = 14;
const WIDTH = 40;

function drawOne(name: string, waitsMs: readonly number[]): string {
  const counts = Array.from({ length: BARS }, () => 0);
  for (const waitMs of waitsMs) counts[bar(waitMs)]! += 1;
  const most = Math.max(1, ...counts);
  const lines = counts.flatMap((count, index) => {
    if (count === 0) return [];
    const below = index === BARS - 1 ? 'longer' : `< ${inSeconds(16 * 2 ** index)}`;
    const length = Math.max(1, Math.round((count / most) * WIDTH));
    return [`    ${name.padEnd(9)}${below.padStart(9)} ${'█'.repeat(length)} ${count}`];
  });
  return lines.join('\n');
}

/** 0: under 16 ms, then doubling. */
const bar = (waitMs: number): number =>
  Math.min(BARS - 1, Math.max(0, Math.ceil(Math.log2((waitMs + 0.001) / 16))));

const pad = (cell: string): string => cell.padStart(9);
const percent = (share: number): string => `${Math.round(share * 100)} %`;

function inSeconds(valueMs: string | number): string {
  if (typeof valueMs === 'string') return valueMs;
  return valueMs < 1000 ? `${Math.round(valueMs)} ms` : `${(valueMs / 1000).toFixed(1)} s`;
}

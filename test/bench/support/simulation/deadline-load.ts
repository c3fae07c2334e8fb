import { exponential, seededRandom, type RandomSource } from '../seeded-random.js';
import { type DeviceCost } from './simulated-worker.js';
import { type TraceRequest } from './trace.js';
import { VirtualGateway } from './virtual-gateway.js';

const MODEL = 'm';
const WORKERS = 16;
const LOAD = 1.1;
const COST: DeviceCost = { groupMs: 0, itemMs: 0, prepMs: 0, hopMs: 0.7, maxBatch: 1 };
const TENANTS = ['acme', 'blue', 'cobalt'];
/** What callers of three kinds allow: a person who waits, a tool, a report. */
const DEADLINES_MS = [10_000, 30_000, 90_000];

/**
 * Tokens of the conversations in the Azure LLM inference trace of 2023 (Patel et al.,
 * Splitwise, ISCA 2024), as log-normal distributions of the same median and mean.
 */
const PROMPT = { median: 1020, mean: 1155 };
const ANSWER = { median: 129, mean: 211 };
/** A prompt token costs a tenth of a generated one, as in `CostModel`. */
const MS_PER_TOKEN = { prompt: 1, answer: 10 };
const MEAN_MS = PROMPT.mean * MS_PER_TOKEN.prompt + ANSWER.mean * MS_PER_TOKEN.answer;
/** What is known of a cost at the door. */
const ERROR = 0.3;

export interface DeadlineReport {
  readonly requests: number;
  /** Answers within their deadline. */
  readonly met: number;
  readonly refused: number;
  /** Queued and never started. */
  readonly missed: number;
  /** Share of the device time that went into answers that came too late. */
  readonly late: number;
  readonly utilisation: number;
}

/**
 * Conversations of three tenants at 110 % of what the devices can do, with deadlines of
 * 10, 30 and 90 s.
 * @param onlyDrops first in, first out; requests leave when their deadline has passed
 */
export function deadlineLoad(seconds: number, onlyDrops: boolean, seed = 1): DeadlineReport {
  const gateway = new VirtualGateway({
    workers: new Map([[MODEL, WORKERS]]),
    cost: COST,
    shares: !onlyDrops,
    onlyDrops,
    forecasts: !onlyDrops,
  });
  const trace = conversations(seconds * 1000, seededRandom(seed));
  gateway.replay(trace);
  gateway.run();
  const { book, pool } = gateway;
  const busyMs = pool.workers.reduce((sum, { deviceBusyMs }) => sum + deviceBusyMs, 0);
  return {
    requests: trace.length,
    met: book.met,
    refused: book.refused,
    missed: book.settledBy.batch.failed,
    late: book.lateMs / busyMs,
    utilisation: busyMs / (WORKERS * book.lastAtMs),
  };
}

function conversations(forMs: number, random: RandomSource): TraceRequest[] {
  const trace: TraceRequest[] = [];
  const gapMs = MEAN_MS / (WORKERS * LOAD);
  for (let atMs = exponential(random, gapMs); atMs < forMs; atMs += exponential(random, gapMs)) {
    const costMs =
      lognormal(random, PROMPT) * MS_PER_TOKEN.prompt +
      lognormal(random, ANSWER) * MS_PER_TOKEN.answer;
    const estimatedMs = costMs * (1 - ERROR + 2 * ERROR * random());
    const [tenant, deadlineMs] = [oneOf(random, TENANTS), oneOf(random, DEADLINES_MS)];
    trace.push({
      atMs,
      model: MODEL,
      tenant,
      priority: 'batch',
      costMs,
      estimatedMs,
      deadlineMs,
    });
  }
  return trace;
}

const oneOf = <T>(random: RandomSource, items: readonly T[]): T =>
  items[Math.floor(random() * items.length)]!;

/** Box-Muller. */
function lognormal(
  random: RandomSource,
  { median, mean }: { median: number; mean: number },
): number {
  const sigma = Math.sqrt(2 * Math.log(mean / median));
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return median * Math.exp(sigma * normal);
}

export const describeDeadlines = (name: string, report: DeadlineReport): string =>
  `  ${name.padEnd(24)} ${report.requests} requests: in time ${report.met}, refused ${report.refused},` +
  ` missed ${report.missed}; late ${(100 * report.late).toFixed(2)} % of device time;` +
  ` devices ${(100 * report.utilisation).toFixed(1)} % busy`;

import { signal } from '@preact/signals';
import type { LiveQueueLine, LiveWorker } from '../../../src/contracts/events/live-event';
import { feed } from './feed';

export type Counts = Omit<LiveQueueLine, 'model'>;

/** By model, over all gateways. */
export const queue = signal<ReadonlyMap<string, Counts>>(new Map());
export const workers = signal<readonly LiveWorker[]>([]);

/** False until the feed has sent both: nothing is known before. */
export const known = signal(false);

/** Per second, over the last seconds; empty until there are two samples. */
export type Rates = Readonly<Record<'arrived' | (typeof RATED)[number], number>>;
const RATED = ['completed', 'failed', 'cancelled', 'rejected'] as const;

export const rates = signal<ReadonlyMap<string, Rates>>(new Map());

/** Called with what is new since the last frame; the flow picture moves by it. */
export type OnChange = (model: string, before: Counts, after: Counts) => void;
const listeners = new Set<OnChange>();

export function onQueueChange(listener: OnChange): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const ZERO: Counts = {
  realtime: 0,
  batch: 0,
  running: 0,
  rejected: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
};
const NAMES = Object.keys(ZERO) as (keyof Counts)[];

function summed(lines: readonly LiveQueueLine[]): Map<string, Counts> {
  const models = new Map<string, Counts>();
  for (const line of lines) {
    const sum = models.get(line.model) ?? ZERO;
    models.set(
      line.model,
      Object.fromEntries(NAMES.map(name => [name, sum[name] + line[name]])) as unknown as Counts,
    );
  }
  return models;
}

/** Everything that ever came, from what is counted. */
export const arrivedOf = (counts: Counts): number =>
  counts.completed +
  counts.failed +
  counts.cancelled +
  counts.realtime +
  counts.batch +
  counts.running;

function take(lines: readonly LiveQueueLine[]): void {
  const before = queue.value;
  const after = summed(lines);
  for (const [model, counts] of after) {
    const known = before.get(model);
    if (known) for (const listener of listeners) listener(model, known, counts);
  }
  queue.value = after;
}

const WINDOW_S = 10;
let samples: { atMs: number; counts: ReadonlyMap<string, Counts> }[] = [];

function measure(): void {
  if (queue.value.size === 0) return;
  const now = { atMs: performance.now(), counts: queue.value };
  samples = [...samples.filter(({ atMs }) => now.atMs - atMs <= WINDOW_S * 1000), now];
  const [first] = samples;
  if (!first || first === now) return;
  const seconds = (now.atMs - first.atMs) / 1000;
  rates.value = new Map(
    [...now.counts].map(([model, counts]) => {
      const old = first.counts.get(model) ?? counts;
      // Less than before: the gateway started again.
      const rate = (of: (each: Counts) => number) => Math.max(0, of(counts) - of(old)) / seconds;
      const ended = Object.fromEntries(RATED.map(name => [name, rate(each => each[name])]));
      return [model, { ...(ended as Omit<Rates, 'arrived'>), arrived: rate(arrivedOf) }];
    }),
  );
}

/** Both rooms, while signed in. */
export function watchQueue(): () => void {
  const seen = new Set<string>();
  const see = (room: string): void => {
    known.value = seen.add(room).size === 2;
  };
  const leave = [
    feed.watch('queue', entries => {
      take(entries as LiveQueueLine[]);
      see('queue');
    }),
    feed.watch('workers', entries => {
      workers.value = entries as LiveWorker[];
      see('workers');
    }),
  ];
  const timer = setInterval(measure, 1000);
  return () => {
    leave.forEach(each => each());
    clearInterval(timer);
    samples = [];
    known.value = false;
  };
}

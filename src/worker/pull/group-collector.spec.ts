import { describe, expect, it } from '@jest/globals';
import { collectGroup } from './group-collector.js';

type CollectRules = Parameters<typeof collectGroup>[0]['rules'];

const SEED: CollectRules = {
  maxSize: 6,
  batchTimeoutMs: 500,
  blockMs: 5000,
  policy: 'window',
  quietGapMs: 5,
};

interface Case extends Partial<CollectRules> {
  readonly rounds?: number;
  readonly room?: number;
  readonly idle?: boolean;
}

interface Arrival {
  readonly job: string;
  readonly atMs: number;
}

/**
 * A queue in virtual time, which passes while it is waited for. Counts what it was asked.
 */
class VirtualQueue {
  readonly waits: number[] = [];
  readonly #arrivals: Arrival[];
  #nowMs = 0;

  constructor(arrivals: readonly Arrival[]) {
    this.#arrivals = [...arrivals];
  }

  nowMs(): number {
    return this.#nowMs;
  }

  next(waitMs: number): Promise<string | undefined> {
    this.waits.push(waitMs);
    const untilMs = this.#nowMs + waitMs;
    const [first] = this.#arrivals;
    if (first === undefined || first.atMs > untilMs) {
      this.#nowMs = untilMs;
      return Promise.resolve(undefined);
    }
    this.#arrivals.shift();
    this.#nowMs = Math.max(this.#nowMs, first.atMs);
    return Promise.resolve(first.job);
  }
}

const at = (atMs: number, ...jobs: string[]): Arrival[] => jobs.map(job => ({ job, atMs }));

/**
 * What the first `rounds` rounds collect, as `members@instant`, and how long the queue
 * was asked to wait.
 */
async function collected(
  arrivals: readonly Arrival[],
  { rounds = 1, room = 12, idle = true, ...rules }: Case = {},
) {
  const seen: string[] = [];
  const feed = new VirtualQueue(arrivals);
  for (let round = 0; round < rounds; round += 1) {
    const group = await collectGroup({
      feed,
      rules: { ...SEED, ...rules },
      device: () => ({ room, idle }),
      hurried: job => job.startsWith('!'),
      clock: feed,
    });
    if (group) seen.push(`${group.jobs.join('')}@${feed.nowMs()}`);
  }
  return { seen, waits: feed.waits };
}

describe('GroupCollector', () => {
  it('of 10 waiting jobs grabs 6 instantly, the timeout never triggers', async () => {
    const { seen, waits } = await collected(at(0, ...'abcdefghij'), { rounds: 2 });
    expect(seen[0]).toBe('abcdef@0');
    expect(waits.slice(0, 6)).toEqual([5000, 500, 500, 500, 500, 500]);
  });

  it('blocks 5 s for a first job, gives nothing when none came, and asks once per wait', async () => {
    const { seen, waits } = await collected(at(7000, 'a'), { rounds: 2 });
    expect(seen).toEqual(['a@7500']);
    expect(waits).toEqual([5000, 5000, 500]);
  });

  const adaptive = { policy: 'adaptive', rounds: 2 } as const;
  const trickle = Array.from({ length: 20 }, (_, i) => at(4 * i, 'x')).flat();

  it.each<[string, Arrival[], Case, string[]]>([
    ['of 2 waiting jobs grabs 2 and waits up to 0.5 s for 4 more', at(0, 'a', 'b'), {}, ['ab@500']],
    [
      'takes stragglers that come within 0.5 s of the first, and leaves the later one to the next group',
      [...at(100, 'a'), ...at(300, 'b'), ...at(599, 'c'), ...at(700, 'd')],
      { rounds: 2 },
      ['abc@600', 'd@1200'],
    ],
    [
      'closes the moment the sixth member comes',
      [...at(0, ...'abcde'), ...at(200, 'f'), ...at(201, 'g')],
      {},
      ['abcdef@200'],
    ],
    [
      'adaptively (D-02), with an idle device closes when nobody came for a quiet gap of 5 ms',
      [...at(0, 'a'), ...at(4, 'b'), ...at(8, 'c'), ...at(14, 'd')],
      adaptive,
      ['abc@13', 'd@19'],
    ],
    [
      'adaptively, with an idle device never waits longer than the batch timeout',
      trickle,
      { policy: 'adaptive', batchTimeoutMs: 10, maxSize: 50 },
      ['xxx@10'],
    ],
    [
      'adaptively, with a busy device takes what is there at once: the device merges it with what comes meanwhile',
      [...at(0, 'a', 'b'), ...at(3, 'c')],
      { ...adaptive, idle: false },
      ['ab@0', 'c@3'],
    ],
    [
      'lets a REALTIME or aged member wait for nobody, and drains what is there with it',
      [...at(0, '!a', 'b'), ...at(1, 'c')],
      {},
      ['!ab@0'],
    ],
    [
      'goes at once when a hurried straggler joins',
      [...at(0, 'a'), ...at(40, '!b')],
      {},
      ['a!b@40'],
    ],
    ['takes no more than there is room for', at(0, ...'abcdefgh'), { room: 4 }, ['abcd@0']],
    [
      'with the policy none never waits for stragglers',
      [...at(0, 'a'), ...at(1, 'b')],
      { policy: 'none', rounds: 2 },
      ['a@0', 'b@1'],
    ],
    [
      'for high traffic (8, 0.05 s): full groups of 8, and 50 ms for the rest',
      at(0, ...'abcdefghijkl'),
      { maxSize: 8, batchTimeoutMs: 50, rounds: 2 },
      ['abcdefgh@0', 'ijkl@50'],
    ],
    [
      'for moderate traffic (6, 0.5 s): a burst of 3 and its stragglers become one group',
      [...at(0, ...'abc'), ...at(120, 'd'), ...at(480, 'e')],
      {},
      ['abcde@500'],
    ],
    [
      'for low traffic (4, 0.1 s): a lone request goes after 100 ms',
      at(0, 'a'),
      { maxSize: 4, batchTimeoutMs: 100 },
      ['a@100'],
    ],
  ])('%s', async (_, arrivals, change, seen) => {
    expect((await collected(arrivals, change)).seen).toEqual(seen);
  });
});

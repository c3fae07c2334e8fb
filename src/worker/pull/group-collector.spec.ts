import { beforeEach, describe, expect, it } from '@jest/globals';
import { collectGroup } from './group-collector.js';

type CollectRules = Parameters<typeof collectGroup>[0]['rules'];

const SEED: CollectRules = {
  maxSize: 6,
  batchTimeoutMs: 500,
  blockMs: 5000,
  policy: 'window',
  quietGapMs: 5,
};

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

describe('GroupCollector', () => {
  let room: number;
  let idle: boolean;
  beforeEach(() => {
    room = 12;
    idle = true;
  });

  /**
   * What the first `rounds` rounds collect, as `members@instant`, and how long the queue
   * was asked to wait.
   */
  async function collected(
    arrivals: readonly Arrival[],
    rules: Partial<CollectRules> = {},
    rounds = 1,
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

  describe('with the timer of the seed', () => {
    it('of 10 waiting jobs grabs 6 instantly, the timeout never triggers', async () => {
      const { seen, waits } = await collected(at(0, ...'abcdefghij'), {}, 2);
      expect(seen[0]).toBe('abcdef@0');
      expect(waits.slice(0, 6)).toEqual([5000, 500, 500, 500, 500, 500]);
    });

    it('of 2 waiting jobs grabs 2 instantly and waits up to 0.5 s for 4 more', async () => {
      expect((await collected(at(0, 'a', 'b'))).seen).toEqual(['ab@500']);
    });

    it('takes stragglers that come within 0.5 s of the first, and leaves the later one to the next group', async () => {
      const arrivals = [...at(100, 'a'), ...at(300, 'b'), ...at(599, 'c'), ...at(700, 'd')];
      expect((await collected(arrivals, {}, 2)).seen).toEqual(['abc@600', 'd@1200']);
    });

    it('closes the moment the sixth member comes', async () => {
      expect(
        (await collected([...at(0, ...'abcde'), ...at(200, 'f'), ...at(201, 'g')])).seen,
      ).toEqual(['abcdef@200']);
    });

    it('blocks 5 s for a first job, gives nothing when none came, and asks once per wait', async () => {
      const { seen, waits } = await collected(at(7000, 'a'), {}, 2);
      expect(seen).toEqual(['a@7500']);
      expect(waits).toEqual([5000, 5000, 500]);
    });
  });

  describe('adaptively (D-02)', () => {
    const rules = { policy: 'adaptive' } as const;

    it('with an idle device closes when nobody came for a quiet gap of 5 ms', async () => {
      expect(
        (await collected([...at(0, 'a'), ...at(4, 'b'), ...at(8, 'c'), ...at(14, 'd')], rules, 2))
          .seen,
      ).toEqual(['abc@13', 'd@19']);
    });

    it('with an idle device never waits longer than the batch timeout', async () => {
      const trickle = Array.from({ length: 20 }, (_, i) => at(4 * i, 'x')).flat();
      expect(
        (await collected(trickle, { ...rules, batchTimeoutMs: 10, maxSize: 50 })).seen,
      ).toEqual(['xxx@10']);
    });

    it('with a busy device takes what is there at once: the device merges it with what comes meanwhile', async () => {
      idle = false;
      expect((await collected([...at(0, 'a', 'b'), ...at(3, 'c')], rules, 2)).seen).toEqual([
        'ab@0',
        'c@3',
      ]);
    });
  });

  it('lets a REALTIME or aged member wait for nobody, and drains what is there with it', async () => {
    expect((await collected([...at(0, '!a', 'b'), ...at(1, 'c')])).seen).toEqual(['!ab@0']);
  });

  it('goes at once when a hurried straggler joins', async () => {
    expect((await collected([...at(0, 'a'), ...at(40, '!b')])).seen).toEqual(['a!b@40']);
  });

  it('takes no more than there is room for', async () => {
    room = 4;
    expect((await collected(at(0, ...'abcdefgh'))).seen).toEqual(['abcd@0']);
  });

  it('with the policy none never waits for stragglers', async () => {
    expect((await collected([...at(0, 'a'), ...at(1, 'b')], { policy: 'none' }, 2)).seen).toEqual([
      'a@0',
      'b@1',
    ]);
  });

  describe('tuned as the seed says', () => {
    const burst = [...at(0, ...'abcdefghijkl')];

    it('high traffic (8, 0.05 s): full groups of 8, and 50 ms for the rest', async () => {
      expect((await collected(burst, { maxSize: 8, batchTimeoutMs: 50 }, 2)).seen).toEqual([
        'abcdefgh@0',
        'ijkl@50',
      ]);
    });

    it('moderate traffic (6, 0.5 s): a burst of 3 and its stragglers become one group', async () => {
      expect(
        (await collected([...at(0, ...'abc'), ...at(120, 'd'), ...at(480, 'e')])).seen,
      ).toEqual(['abcde@500']);
    });

    it('low traffic (4, 0.1 s): a lone request goes after 100 ms', async () => {
      expect((await collected(at(0, 'a'), { maxSize: 4, batchTimeoutMs: 100 })).seen).toEqual([
        'a@100',
      ]);
    });
  });
});

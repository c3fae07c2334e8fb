import { beforeEach, describe, expect, it } from '@jest/globals';
import { EMPTY, ignoreElements, map, type Observable, of, race, repeat, Subject, take, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { type CollectRules, GroupCollector, type JobFeed } from './group-collector.js';

const SEED: CollectRules = { maxSize: 6, timeoutMs: 500, blockMs: 5000, policy: 'window', quietGapMs: 5 };

interface Arrival {
  readonly job: string;
  readonly atMs: number;
}

/** A queue in virtual time: jobs lie there from their instant on. Counts what it was asked. */
class VirtualQueue implements JobFeed<string> {
  readonly #there: string[] = [];
  readonly #came = new Subject<void>();

  constructor(
    arrivals: readonly Arrival[],
    private readonly scheduler: TestScheduler,
    private readonly waits: number[],
  ) {
    for (const { job, atMs } of arrivals) {
      if (atMs === 0) this.put(job);
      else scheduler.schedule(() => this.put(job), atMs);
    }
  }

  put(job: string): void {
    this.#there.push(job);
    this.#came.next();
  }

  next(waitMs: number): Observable<string> {
    this.waits.push(waitMs);
    const job = this.#there.shift();
    if (job !== undefined) return of(job);
    if (waitMs === 0) return EMPTY;
    const arrival = this.#came.pipe(
      take(1),
      map(() => this.#there.shift()!),
    );
    return race(arrival, timer(waitMs, this.scheduler).pipe(ignoreElements()));
  }
}

const at = (atMs: number, ...jobs: string[]): Arrival[] => jobs.map(job => ({ job, atMs }));

describe('GroupCollector', () => {
  let scheduler: TestScheduler;
  let room: number;
  let idle: boolean;
  beforeEach(() => {
    scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
    room = 12;
    idle = true;
  });

  /** What the first `rounds` rounds collect, as `members@instant`, and how long the queue was asked to wait. */
  function collected(arrivals: readonly Arrival[], rules: Partial<CollectRules> = {}, rounds = 1) {
    const seen: string[] = [];
    const waits: number[] = [];
    scheduler.run(() => {
      const queue = new VirtualQueue(arrivals, scheduler, waits);
      const collector = new GroupCollector(
        {
          feed: queue,
          rules: { ...SEED, ...rules },
          device: () => ({ room, idle }),
          hurried: (job: string) => job.startsWith('!'),
        },
        scheduler,
      );
      const groups = collector.collect().pipe(repeat(rounds));
      groups.subscribe(({ jobs }) => seen.push(`${jobs.join('')}@${scheduler.now()}`));
    });
    return { seen, waits };
  }

  describe('with the timer of the seed', () => {
    it('of 10 waiting jobs grabs 6 instantly, the timeout never triggers', () => {
      const { seen, waits } = collected(at(0, ...'abcdefghij'), {}, 2);
      expect(seen[0]).toBe('abcdef@0');
      expect(waits.slice(0, 6)).toEqual([5000, 500, 500, 500, 500, 500]);
    });

    it('of 2 waiting jobs grabs 2 instantly and waits up to 0.5 s for 4 more', () => {
      expect(collected(at(0, 'a', 'b')).seen).toEqual(['ab@500']);
    });

    it('takes stragglers that come within 0.5 s of the first, and leaves the later one to the next group', () => {
      const arrivals = [...at(100, 'a'), ...at(300, 'b'), ...at(599, 'c'), ...at(700, 'd')];
      expect(collected(arrivals, {}, 2).seen).toEqual(['abc@600', 'd@1200']);
    });

    it('closes the moment the sixth member comes', () => {
      expect(collected([...at(0, ...'abcde'), ...at(200, 'f'), ...at(201, 'g')]).seen).toEqual(['abcdef@200']);
    });

    it('blocks 5 s for a first job, gives nothing when none came, and asks once per wait', () => {
      const { seen, waits } = collected(at(7000, 'a'), {}, 2);
      expect(seen).toEqual(['a@7500']);
      expect(waits).toEqual([5000, 5000, 500]);
    });
  });

  describe('adaptively (D-02)', () => {
    const rules = { policy: 'adaptive' } as const;

    it('with an idle device closes when nobody came for a quiet gap of 5 ms', () => {
      expect(collected([...at(0, 'a'), ...at(4, 'b'), ...at(8, 'c'), ...at(14, 'd')], rules, 2).seen).toEqual([
        'abc@13',
        'd@19',
      ]);
    });

    it('with an idle device never waits longer than the batch timeout', () => {
      const trickle = Array.from({ length: 20 }, (_, i) => at(4 * i, 'x')).flat();
      expect(collected(trickle, { ...rules, timeoutMs: 10, maxSize: 50 }).seen).toEqual(['xxx@10']);
    });

    it('with a busy device takes what is there at once: the device merges it with what comes meanwhile', () => {
      idle = false;
      expect(collected([...at(0, 'a', 'b'), ...at(3, 'c')], rules, 2).seen).toEqual(['ab@0', 'c@3']);
    });
  });

  it('lets a REALTIME or aged member wait for nobody, and drains what is there with it', () => {
    expect(collected([...at(0, '!a', 'b'), ...at(1, 'c')]).seen).toEqual(['!ab@0']);
  });

  it('goes at once when a hurried straggler joins', () => {
    expect(collected([...at(0, 'a'), ...at(40, '!b')]).seen).toEqual(['a!b@40']);
  });

  it('takes no more than there is room for', () => {
    room = 4;
    expect(collected(at(0, ...'abcdefgh')).seen).toEqual(['abcd@0']);
  });

  it('with the policy none never waits for stragglers', () => {
    expect(collected([...at(0, 'a'), ...at(1, 'b')], { policy: 'none' }, 2).seen).toEqual(['a@0', 'b@1']);
  });

  describe('tuned as the seed says', () => {
    const burst = [...at(0, ...'abcdefghijkl')];

    it('high traffic (8, 0.05 s): full groups of 8, and 50 ms for the rest', () => {
      expect(collected(burst, { maxSize: 8, timeoutMs: 50 }, 2).seen).toEqual(['abcdefgh@0', 'ijkl@50']);
    });

    it('moderate traffic (6, 0.5 s): a burst of 3 and its stragglers become one group', () => {
      expect(collected([...at(0, ...'abc'), ...at(120, 'd'), ...at(480, 'e')]).seen).toEqual(['abcde@500']);
    });

    it('low traffic (4, 0.1 s): a lone request goes after 100 ms', () => {
      expect(collected(at(0, 'a'), { maxSize: 4, timeoutMs: 100 }).seen).toEqual(['a@100']);
    });
  });
});

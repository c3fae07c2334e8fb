import { Injectable } from '@nestjs/common';
import { BatchJournal, type BatchMember, type JournalLog, type LaneResult } from '../execution/batch-journal.js';
import { PullConnections } from './pull-connections.js';
import { RequestQueue } from './request-queue.js';
import { type TakenJob } from './taken-job.js';

/** The journal of a worker that pulls: "Batch collected" is told when a group leaves the queue, and whom a call takes along gets a mark. */
export class PullJournal extends BatchJournal {
  #marks: CrashMarkers | undefined;

  constructor(log: JournalLog) {
    super(log);
  }

  /** Before the first engine call. */
  markWith(marks: CrashMarkers): void {
    this.#marks = marks;
  }

  override collected(members: readonly BatchMember[]): void {
    this.#marks?.entering(members.map(({ id }) => id));
    this.starting(members);
  }

  override done(members: readonly BatchMember[], result: LaneResult<unknown>): void {
    this.#marks?.survived(members.filter((_, at) => result.outcomes[at]?.ok).map(({ id }) => id));
    super.done(members, result);
  }
}

/** Kept with a job while an engine call has it, so that whoever takes it after a death knows what it was part of. */
export interface CrashMarker {
  /** Members of that engine call. */
  readonly size: number;
  /** Engine calls that had it alone so far, this one included. */
  readonly alone: number;
  /** Deaths of its workers before that call. */
  readonly deaths: number;
  /** The device died and its worker lives: nobody else counts this one. */
  readonly died?: boolean;
}

/** What is to be done with a job that was lost before. */
export type Retry =
  /** `mostTogether`: members of an engine call with it at most. `alone`: calls that had it alone and died. */
  { readonly kind: 'again'; readonly mostTogether: number; readonly alone: number } | { readonly kind: 'give_up' };

export interface LostJob {
  /** Workers that lost it. */
  readonly deaths: number;
  readonly mark: CrashMarker | undefined;
}

const FREELY = Infinity;

/**
 * One member of a group may be what kills the device, and nobody knows which: both halves try again, until it is alone. Alone twice
 * (`maxStalled` 1) it is the killer. Deaths in company cost a job nothing else; those before it reached the device count like
 * those alone.
 */
export function retryAfterCrash({ deaths, mark }: LostJob, maxStalled: number): Retry {
  if (mark === undefined)
    return deaths > maxStalled ? { kind: 'give_up' } : { kind: 'again', mostTogether: FREELY, alone: 0 };
  const diedThere = mark.died === true || deaths > mark.deaths;
  if (!diedThere) return { kind: 'again', mostTogether: mark.size, alone: Math.max(0, mark.alone - 1) };
  if (mark.size > 1) return { kind: 'again', mostTogether: Math.ceil(mark.size / 2), alone: mark.alone };
  return mark.alone > maxStalled ? { kind: 'give_up' } : { kind: 'again', mostTogether: 1, alone: mark.alone };
}

/** Field of BullMQ's hash of a job: it goes when the job goes. */
const FIELD = 'device';

/** Writes the field of jobs that are there still: a mark must not bring a settled job's key back. */
const MARK = `
for i = 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('HSET', KEYS[i], ARGV[1], ARGV[i + 1]) end
end`;

interface Admitted {
  readonly job: TakenJob;
  /** Engine calls that had it alone before. */
  readonly alone: number;
  /** Members of its last engine call. */
  lastSize: number;
}

/** What this worker's jobs were part of when it died, kept where the worker's death does not reach. */
@Injectable()
export class CrashMarkers {
  /** Jobs in hand, and how often each was alone on a device before. */
  readonly #jobs = new Map<string, Admitted>();

  constructor(
    private readonly connections: PullConnections,
    private readonly queue: RequestQueue,
  ) {}

  /** What to do with a job that somebody had before; any other goes freely. */
  async verdict(job: TakenJob): Promise<Retry> {
    if (job.starts <= 1) return { kind: 'again', mostTogether: Infinity, alone: 0 };
    const text = await this.connections.for('work').hget(this.queue.key(job.id), FIELD);
    const mark = text === null ? undefined : (JSON.parse(text) as LostJob['mark']);
    return retryAfterCrash({ deaths: job.deaths, mark }, this.connections.plane.maxStalled);
  }

  admitted(job: TakenJob, alone: number): void {
    this.#jobs.set(job.id, { job, alone, lastSize: 1 });
  }

  left({ id }: TakenJob): void {
    this.#jobs.delete(id);
  }

  /**
   * An engine call with these begins. Not waited for: the command has left this process before the device can take it down, and a
   * lost mark costs no more than a guess.
   */
  entering(ids: readonly string[]): void {
    void this.#write(ids).catch(() => undefined);
  }

  /** They are computed: a death before their answers are out is the fault of the call that follows. Not waited for either. */
  survived(ids: readonly string[]): void {
    void this.#write(ids, {}, 1).catch(() => undefined);
  }

  /** The device died under the last call with this job, and this process lives. */
  async died(job: TakenJob): Promise<void> {
    await this.#write([job.id], { size: this.#jobs.get(job.id)?.lastSize ?? 1, died: true });
  }

  /** @param forgiven deaths from now on that are not theirs */
  async #write(ids: readonly string[], known: Partial<CrashMarker> = {}, forgiven = 0): Promise<void> {
    const members = [...new Set(ids)].flatMap(id => this.#jobs.get(id) ?? []);
    if (members.length === 0) return;
    const size = known.size ?? members.length;
    const marks = members.map((member): CrashMarker => {
      const { job, alone } = member;
      member.lastSize = size;
      const deaths = job.deaths + forgiven;
      return { size, alone: alone + (size === 1 ? 1 : 0), deaths, ...(known.died && { died: true }) };
    });
    const keys = members.map(({ job }) => this.queue.key(job.id));
    const redis = this.connections.for('work');
    await redis.eval(MARK, keys.length, ...keys, FIELD, ...marks.map(mark => JSON.stringify(mark)));
  }
}

import { Injectable } from '@nestjs/common';
import { BatchJournal, type BatchMember, type JournalLog, type LaneResult } from '../execution/batch-journal.js';
import { PullConnections } from './pull-connections.js';
import { RequestQueue } from './request-queue.js';
import { type TakenJob } from './taken-job.js';

/**
 * The journal of a pull worker: "Batch collected" is logged when a group leaves the queue, and members of an engine
 * call get a marker.
 */
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

/**
 * Stored with a job during an engine call, so that the worker that takes it after a crash knows what it was part of.
 */
export interface CrashMarker {
  /** Members of that engine call. */
  readonly size: number;
  /** Engine calls with this job alone so far, this one included. */
  readonly alone: number;
  /** Worker crashes before that call. */
  readonly deaths: number;
  /** The engine process died and the worker did not, so BullMQ does not count this crash. */
  readonly died?: boolean;
}

/** What to do with a job that was lost before. */
export type Retry =
  /** `mostTogether`: most members of an engine call with this job. `alone`: calls with this job alone that crashed. */
  { readonly kind: 'again'; readonly mostTogether: number; readonly alone: number } | { readonly kind: 'give_up' };

export interface LostJob {
  /** Workers that lost it. */
  readonly deaths: number;
  readonly mark: CrashMarker | undefined;
}

const UNLIMITED = Infinity;

/**
 * One member of a group may crash the device, but it is unknown which: both halves are retried, until the job is alone.
 * If it crashes alone twice (`maxStalled` 1), it is at fault. Crashes in a group have no other effect on a job; crashes
 * before it reached the device count like those alone.
 */
export function retryAfterCrash({ deaths, mark }: LostJob, maxStalled: number): Retry {
  if (mark === undefined)
    return deaths > maxStalled ? { kind: 'give_up' } : { kind: 'again', mostTogether: UNLIMITED, alone: 0 };
  const diedThere = mark.died === true || deaths > mark.deaths;
  if (!diedThere) return { kind: 'again', mostTogether: mark.size, alone: Math.max(0, mark.alone - 1) };
  if (mark.size > 1) return { kind: 'again', mostTogether: Math.ceil(mark.size / 2), alone: mark.alone };
  return mark.alone > maxStalled ? { kind: 'give_up' } : { kind: 'again', mostTogether: 1, alone: mark.alone };
}

/** Field of BullMQ's hash of a job, so it is removed with the job. */
const FIELD = 'device';

/** Writes the field of existing jobs only: a marker must not recreate the key of a finished job. */
const MARK = `
for i = 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then redis.call('HSET', KEYS[i], ARGV[1], ARGV[i + 1]) end
end`;

interface Admitted {
  readonly job: TakenJob;
  /** Engine calls with this job alone before. */
  readonly alone: number;
  /** Members of its last engine call. */
  lastSize: number;
}

/**
 * Records in Redis which engine call each job of this worker is part of, for the worker that takes the job after a
 * crash.
 */
@Injectable()
export class CrashMarkers {
  /** Held jobs, and how often each was alone on a device before. */
  readonly #jobs = new Map<string, Admitted>();

  constructor(
    private readonly connections: PullConnections,
    private readonly queue: RequestQueue,
  ) {}

  /** What to do with a job that another worker had before; any other job is unrestricted. */
  async verdict(job: TakenJob): Promise<Retry> {
    if (job.starts <= 1) return { kind: 'again', mostTogether: Infinity, alone: 0 };
    const text = await this.connections.for('work').hget(this.queue.key(job.id), FIELD);
    const mark = text === null ? undefined : (JSON.parse(text) as LostJob['mark']);
    return retryAfterCrash({ deaths: job.deaths, mark }, this.connections.sharedQueue.maxStalled);
  }

  admitted(job: TakenJob, alone: number): void {
    this.#jobs.set(job.id, { job, alone, lastSize: 1 });
  }

  left({ id }: TakenJob): void {
    this.#jobs.delete(id);
  }

  /**
   * An engine call with these jobs begins. Not awaited: the command leaves this process before the device can crash it,
   * and a lost marker only makes the verdict less exact.
   */
  entering(ids: readonly string[]): void {
    void this.#write(ids).catch(() => undefined);
  }

  /** These jobs are computed: a crash before their results are delivered is not counted against them. Not awaited. */
  survived(ids: readonly string[]): void {
    void this.#write(ids, {}, 1).catch(() => undefined);
  }

  /** The engine process died during the last call with this job, and this process did not. */
  async died(job: TakenJob): Promise<void> {
    await this.#write([job.id], { size: this.#jobs.get(job.id)?.lastSize ?? 1, died: true });
  }

  /** @param forgiven next crashes that do not count */
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

import { Injectable } from '@nestjs/common';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { RequestQueue, retryUntilAborted } from '@switchyard/shared-queue/worker/request-queue.js';
import { type PulledJob, type TakenJob } from '@switchyard/shared-queue/worker/taken-job.js';
import { DomainError } from '../../core/errors/domain-error.js';
import {
  faultOf,
  suspected,
  type Suspicion,
  UNSUSPECTED,
} from '../../core/request/retry-budget.js';

/**
 * Stored with a job during an engine call, so that the worker that takes it after a crash
 * knows what it was part of.
 */
interface CrashMarker {
  /** What was known of the job before that call. */
  readonly before: Suspicion;
  /** Members of that engine call. */
  readonly size: number;
  /** Worker crashes before that call. */
  readonly crashes: number;
}

/**
 * @param crashes workers that lost the job
 * @param mark of its last engine call; undefined: it never reached a device. Then it was
 *   in company in the first crash,
 *   alone in the others, and nobody saw their cause
 */
export function suspicionOf(crashes: number, mark: CrashMarker | undefined): Suspicion {
  if (mark === undefined)
    return crashes === 0 ? UNSUSPECTED : { mostTogether: 1, alone: crashes - 1, deaths: 0 };
  return crashes > mark.crashes ? suspected(mark.before, mark.size, true) : mark.before;
}

/**
 * Records in Redis which engine call each job of this worker is part of, for the worker
 * that takes the job after a crash.
 */
@Injectable()
export class CrashMarkers {
  /** Jobs of this worker. `lastSize`: members of the job's last engine call. */
  readonly #jobs = new Map<
    string,
    { readonly job: TakenJob; readonly before: Suspicion; lastSize: number }
  >();

  constructor(private readonly queue: RequestQueue) {}

  /** What markers of earlier workers say about the job, and its tenant's last ones (D-51). */
  async suspicion({ job, order, gone }: PulledJob): Promise<Suspicion> {
    const text =
      job.attemptsStarted <= 1
        ? null
        : await retryUntilAborted(() => this.queue.noted(job.id), gone).catch(() => null);
    const mark = text === null ? undefined : (parseBoundedJson(text) as CrashMarker);
    const known = suspicionOf(job.stalledCounter, mark);
    if (known.mostTogether !== undefined) return known;
    const isSuspect = await this.queue.suspects(order.tenant).catch(() => false);
    return isSuspect ? { ...known, mostTogether: 1 } : known;
  }

  /**
   * @throws DomainError for a job that was lost alone too often
   */
  admit(job: TakenJob, before: Suspicion): void {
    const code = job.deferredFailure !== undefined ? 'worker_lost' : faultOf(before);
    if (code !== undefined)
      throw new DomainError(
        code,
        'Every worker that ran the job crashed; the last ones ran nothing else.',
      );
    this.#jobs.set(job.id, { job, before, lastSize: 1 });
  }

  left({ id }: TakenJob): void {
    this.#jobs.delete(id);
  }

  /**
   * An engine call with these jobs begins. Not awaited: the command leaves this process
   * before the device can crash it, and a lost marker only makes the verdict less exact.
   */
  entering(ids: readonly string[]): void {
    this.#mark(ids, 0);
  }

  /**
   * These jobs are computed: a crash before their results are delivered is not counted
   * against them. Not awaited.
   */
  survived(ids: readonly string[]): void {
    this.#mark(ids, 1);
  }

  /**
   * The engine died during the last call with this job, and this process did not: BullMQ
   * counts no crash.
   */
  async died({ id }: TakenJob, { code }: DomainError): Promise<void> {
    const held = this.#jobs.get(id);
    if (!held) return;
    const before = suspected(held.before, held.lastSize, code === 'worker_crashed');
    const { lastSize: size, job } = held;
    await this.#store([[held, { before, size, crashes: job.stalledCounter }]]);
  }

  /** @param forgiven next crashes that do not count */
  #mark(ids: readonly string[], forgiven: number): void {
    const members = [...new Set(ids)].flatMap(id => this.#jobs.get(id) ?? []);
    const size = members.length;
    const marks = members.map(member => {
      member.lastSize = size;
      const { before, job } = member;
      return [member, { before, size, crashes: job.stalledCounter + forgiven }] as const;
    });
    void this.#store(marks).catch(() => undefined);
  }

  async #store(
    marks: readonly (readonly [member: { readonly job: TakenJob }, mark: CrashMarker])[],
  ): Promise<void> {
    if (marks.length === 0) return;
    await this.queue.note(marks.map(([{ job }, mark]) => [job.id, writeJson(mark)]));
  }
}

import { createReadStream } from 'node:fs';
import { Injectable, Logger } from '@nestjs/common';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { type JobProblem } from '../../core/jobs/batch-job.js';
import { type BatchStatus } from '../../core/jobs/batch-status.js';
import { type JobChange } from '../../core/jobs/job.ports.js';
import { linesOf } from '../../platform/storage/line-splitter.js';
import { ExecuteService } from '../execute/execute.service.js';
import { IngestService } from '../ingest/ingest.service.js';
import { type ClaimedJob, type JobPlan } from '../job/claimed-job.js';
import { InputLines, lineParts } from '../job/input-lines.js';
import { type JobFolder } from '../job/job-folder.js';
import { errorLine } from '../job/output-line.js';
import { ResultFiles } from '../job/result-files.js';
import { type ResultLog } from '../job/result-log.js';
import { type JobStop } from '../lease/job-stop.js';

/** Lines per flush: bounds memory. */
const GROUP = 1000;

/** Records the error lines of invalid input lines (lenient validation). Idempotent. */
async function recordRejected(log: ResultLog, plan: JobPlan, folder: JobFolder): Promise<void> {
  if (plan.firstRejected === plan.total) return;
  let index = plan.firstRejected;
  for await (const { bytes } of linesOf(createReadStream(folder.rejected))) {
    if (!log.progress.has(index)) log.append({ index, kind: 'E', line: bytes!.toString() });
    index += 1;
    if (index % GROUP === 0) await log.flush();
  }
  await log.flush();
}

/** What lines without an answer say, by the end of their batch. */
const UNANSWERED = {
  expired: 'This request could not be executed before the completion window expired.',
  cancelled: 'This request was not executed because the batch was cancelled.',
  failed: 'This request was not executed because the batch failed.',
} as const;

/**
 * Records `batch_<ending>` for every line without a result, so that each input line is in
 * exactly one file (D-15).
 */
async function recordUnanswered(
  log: ResultLog,
  plan: JobPlan,
  folder: JobFolder,
  ending: keyof typeof UNANSWERED,
): Promise<void> {
  await using input = await InputLines.open(folder.input);
  let appended = 0;
  for (const { first, plan: entries } of plan.models) {
    for (let at = 0; at < entries.length; at++) {
      const index = first + at;
      if (log.progress.has(index)) continue;
      const { customIdJson } = lineParts(await input.read(entries.at(at)));
      const customId = parseBoundedJson(customIdJson) as string;
      const code = `batch_${ending}`;
      const line = errorLine(customId, { code, message: UNANSWERED[ending] });
      log.append({ index, kind: 'E', line });
      if (++appended % GROUP === 0) await log.flush();
    }
  }
  await log.flush();
}

/** How a job ends. `handed_over`: another claim continues it. */
export type Ending =
  | Extract<BatchStatus, 'completed' | 'failed' | 'expired' | 'cancelled'>
  | 'handed_over';

/**
 * Runs a job from its current state to its end: plan, lines, files. Every step skips what
 * is already done, so the same code serves a new job, a job taken over and a retry after
 * an outage (README, "Recovery").
 */
@Injectable()
export class BatchRunner {
  readonly #logger = new Logger('BatchJob');

  constructor(
    private readonly ingest: IngestService,
    private readonly execute: ExecuteService,
    private readonly files: ResultFiles,
  ) {}

  /** @throws LeaseLost, or the error of a disk or store: the job can be run again */
  async run(work: ClaimedJob): Promise<Ending> {
    const { lease } = work;
    const ingested = await this.ingest.prepare(work);
    if (work.stop.handsOver) return 'handed_over';
    if ('problems' in ingested) return this.#endWithoutPlan(work, ingested.problems);
    const { plan } = ingested;
    if (lease.job.status === 'validating' && Date.now() < lease.job.expiresAtMs) {
      const [one, ...others] = plan.models;
      const outcome = await lease.update({
        status: 'in_progress',
        counts: { total: plan.total, completed: 0, failed: 0 },
        model: others.length === 0 ? one?.model : undefined,
      });
      if (outcome === 'cancelling') work.stop.request('cancelled');
    }
    return this.#withLog(work, plan);
  }

  async #withLog(work: ClaimedJob, plan: JobPlan): Promise<Ending> {
    const log = await this.execute.openLog(work, plan);
    try {
      await recordRejected(log, plan, work.folder);
      const reason = await this.execute.run(work, plan, log);
      if (work.stop.handsOver) return 'handed_over';
      return await this.#finish(work, plan, log, reason);
    } finally {
      await log.close();
    }
  }

  async #finish(
    work: ClaimedJob,
    plan: JobPlan,
    log: ResultLog,
    reason: JobStop['reason'],
  ): Promise<Ending> {
    const ending = await this.#endingOf(work, log, reason);
    if (ending !== 'completed') await recordUnanswered(log, plan, work.folder, ending);
    work.lease.assertHeld();
    return this.#publish(work, log, ending);
  }

  async #endingOf(
    { lease }: ClaimedJob,
    { progress: { counts, usage } }: ResultLog,
    reason: JobStop['reason'],
  ): Promise<Exclude<Ending, 'handed_over'>> {
    if (reason === 'expired' || reason === 'cancelled' || reason === 'failed') return reason;
    // Only invalid lines, and past the deadline: the batch never was in progress.
    if (lease.job.status === 'validating') return 'expired';
    if (lease.job.status !== 'in_progress') return 'completed';
    const outcome = await lease.update({ status: 'finalizing', counts, usage });
    return outcome === 'cancelling' ? 'cancelled' : 'completed';
  }

  async #publish(
    work: ClaimedJob,
    log: ResultLog,
    ending: Exclude<Ending, 'handed_over'>,
  ): Promise<Ending> {
    const { lease } = work;
    const files = await this.files.publish(work, log);
    const { counts, usage } = log.progress;
    const { problems } = work;
    const final = await this.#end(work, {
      status: ending,
      counts,
      usage,
      ...files,
      ...(problems && { problems }),
    });
    this.#logger.log({ batch: lease.job.id, ...counts }, `batch ${final}`);
    return final;
  }

  /**
   * Writes the end. A cancel that came meanwhile, after the last line, keeps all results,
   * and the batch ends as cancelled.
   */
  async #end(
    work: ClaimedJob,
    change: JobChange & { readonly status: Exclude<Ending, 'handed_over'> },
  ): Promise<Ending> {
    const { lease } = work;
    const isCancelled = (await lease.update(change)) === 'cancelling';
    if (isCancelled) await lease.update({ ...change, status: 'cancelled' });
    lease.ended();
    await this.execute.removeFolder(work);
    return isCancelled ? 'cancelled' : change.status;
  }

  /**
   * Ends a job whose stores did not recover in time: durable files are named, missing
   * ones are explained.
   */
  async endOverdue(work: ClaimedJob): Promise<Ending> {
    const { lease } = work;
    const { job } = lease;
    const ending = job.status === 'cancelling' ? 'cancelled' : 'failed';
    const change = {
      status: ending,
      ...(await this.files.published(work)),
      problems: [STORES_UNAVAILABLE],
    } as const;
    await lease.update(change);
    lease.ended();
    this.#logger.error(
      { batch: job.id, ...job.counts },
      `batch ${ending}: its result files could not be stored in time`,
    );
    return ending;
  }

  /**
   * Ends a job with an invalid input file: nothing was sent, and the reasons
   * are reported (D-17).
   */
  async #endWithoutPlan(work: ClaimedJob, problems: readonly JobProblem[]): Promise<Ending> {
    const ending = await this.#end(work, { status: 'failed', problems });
    this.#logger.warn(
      { batch: work.lease.job.id, problems: problems.length, first: problems[0]?.code },
      'batch rejected',
    );
    return ending;
  }
}

const STORES_UNAVAILABLE: JobProblem = {
  code: 'storage_unavailable',
  message:
    'Some result files could not be stored within `batch.finalize_timeout_ms`; stored files are listed.',
  param: null,
  line: null,
};

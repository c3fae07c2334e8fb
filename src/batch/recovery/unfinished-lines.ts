import { createReadStream } from 'node:fs';
import { type InputLines, lineParts } from '../job/input-lines.js';
import { errorLine, UNANSWERED, type UnansweredCode } from '../job/output-line.js';
import { type ResultLog } from '../job/result-log.js';
import { type JobPlan } from '../job/job-plan.js';
import { linesOf } from '../../platform/storage/line-splitter.js';
import { type JobFolder } from '../job/job-folder.js';

/** Lines per flush: bounds memory. */
const GROUP = 1000;

/** Records the error lines of invalid input lines (lenient validation). Idempotent. */
export async function recordRejected(
  log: ResultLog,
  plan: JobPlan,
  folder: JobFolder,
): Promise<void> {
  if (plan.firstRejected === plan.total) return;
  let index = plan.firstRejected;
  for await (const { bytes } of linesOf(createReadStream(folder.rejected()))) {
    if (!log.progress.done.has(index))
      log.append({ index, kind: 'E', line: bytes!.toString() });
    index += 1;
    if (index % GROUP === 0) await log.flush();
  }
  await log.flush();
}

/**
 * Records `code` for every line without a result, so that each input line is in exactly
 * one file (D-15).
 */
export async function recordUnanswered(
  { log, plan, input }: { log: ResultLog; plan: JobPlan; input: InputLines },
  code: UnansweredCode,
): Promise<void> {
  let appended = 0;
  for (const { first, plan: entries } of plan.models) {
    for (let at = 0; at < entries.length; at++) {
      const index = first + at;
      if (log.progress.done.has(index)) continue;
      const { customIdJson } = lineParts(await input.read(entries.at(at)));
      const customId = JSON.parse(customIdJson) as string;
      log.append({
        index,
        kind: 'E',
        line: errorLine({ customId, code, message: UNANSWERED[code] }),
      });
      if (++appended % GROUP === 0) await log.flush();
    }
  }
  await log.flush();
}

import { BatchJournal, type BatchMember, type JournalLog } from '../execution/batch-journal.js';
import { type LaneResult } from '../execution/device-lane.js';
import { type DeathMarks } from './death-marks.js';

/** The journal of a worker that pulls: the remaining lines of seeds/micro-batching "Monitoring", and a mark for whom a call takes along. */
export class PullJournal extends BatchJournal {
  #marks: DeathMarks | undefined;

  constructor(log: JournalLog) {
    super(log);
  }

  /** Before the first engine call. */
  markWith(marks: DeathMarks): void {
    this.#marks = marks;
  }

  override collected(members: readonly BatchMember[]): void {
    const size = members.length;
    const prepMs = Math.max(...members.map(member => member.prepMs));
    this.#marks?.entering(members.map(({ id }) => id));
    this.log.debug({ event: 'batch_ready', size }, `Batch ready: size=${size}, taking the device`);
    const prepared = `Micro-batch CPU prep done: ${(prepMs / 1000).toFixed(2)}s for ${size} items`;
    this.log.debug({ event: 'batch_prepared', size, prepMs }, prepared);
    this.log.debug({ event: 'batch_start', size }, `Micro-batch start: size=${size}`);
  }

  override done(members: readonly BatchMember[], result: LaneResult<unknown>): void {
    this.#marks?.survived(members.filter((_, at) => result.outcomes[at]?.ok).map(({ id }) => id));
    super.done(members, result);
  }
}

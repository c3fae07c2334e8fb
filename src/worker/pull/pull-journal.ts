import { BatchJournal, type BatchMember, type JournalLog } from '../execution/batch-journal.js';
import { type LaneResult } from '../execution/device-lane.js';
import { type DeathMarks } from './death-marks.js';

/** The journal of a worker that pulls: "Batch collected" is told when a group leaves the queue, and whom a call takes along gets a mark. */
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
    this.#marks?.entering(members.map(({ id }) => id));
    this.starting(members);
  }

  override done(members: readonly BatchMember[], result: LaneResult<unknown>): void {
    this.#marks?.survived(members.filter((_, at) => result.outcomes[at]?.ok).map(({ id }) => id));
    super.done(members, result);
  }
}

import { type LaneResult } from './device-lane.js';

/** The part of a logger that is used here. */
export interface JournalLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** One item of an engine call. */
export interface BatchMember {
  readonly id: string;
  readonly prepMs: number;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)}s`;

/** Log lines at level info, with the numbers also as fields: four before an engine call, one after it. */
export class BatchJournal {
  constructor(protected readonly log: JournalLog) {}

  /** The next thing that happens is the engine call. */
  collected(members: readonly BatchMember[], maxBatch: number): void {
    const size = members.length;
    this.log.info({ event: 'batch_collected', size, maxBatch }, `Batch collected: ${size}/${maxBatch} items`);
    this.starting(members);
  }

  /** The group is prepared, and begins. */
  protected starting(members: readonly BatchMember[]): void {
    const size = members.length;
    const prepMs = Math.max(...members.map(member => member.prepMs));
    this.log.info({ event: 'batch_ready', size }, `Batch ready: size=${size}, taking the device`);
    const prepared = `Micro-batch CPU prep done: ${seconds(prepMs)} for ${size} items`;
    this.log.info({ event: 'batch_prepared', size, prepMs }, prepared);
    this.log.info({ event: 'batch_start', size }, `Micro-batch start: size=${size}`);
  }

  done(members: readonly BatchMember[], result: LaneResult<unknown>): void {
    const { batchId, deviceMs, outcomes } = result;
    const prepMs = Math.max(...members.map(member => member.prepMs));
    const succeeded = outcomes.filter(outcome => outcome.ok).length;
    const fields = {
      event: 'batch_done',
      batchId,
      size: members.length,
      succeeded,
      prepMs,
      deviceMs,
      requestIds: members.map(({ id }) => id),
    };
    const total = seconds(prepMs + deviceMs);
    this.log.info(
      fields,
      `Micro-batch done: ${succeeded}/${members.length} succeeded in ${total} (prep=${seconds(prepMs)} device=${seconds(deviceMs)})`,
    );
  }
}

import { type LaneResult } from './device-lane.js';

/** The part of a logger that is used here. */
export interface JournalLog {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
}

/** One item of an engine call. */
export interface BatchMember {
  readonly id: string;
  readonly prepMs: number;
}

/** Engine calls shorter than this are told at debug level: hundreds per second would make the log the bottleneck. */
const NOTABLE_MS = 1000;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)}s`;

/** The lines of seeds/micro-batching "Monitoring", with the numbers also as fields. */
export class BatchJournal {
  constructor(protected readonly log: JournalLog) {}

  /** The next thing that happens is the engine call. */
  collected({ length: size }: readonly BatchMember[], maxBatch: number): void {
    this.log.debug({ event: 'batch_collected', size, maxBatch }, `Batch collected: ${size}/${maxBatch} items`);
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
    const level = deviceMs >= NOTABLE_MS ? 'info' : 'debug';
    const total = seconds(prepMs + deviceMs);
    this.log[level](
      fields,
      `Micro-batch done: ${succeeded}/${members.length} succeeded in ${total} (prep=${seconds(prepMs)} device=${seconds(deviceMs)})`,
    );
  }
}

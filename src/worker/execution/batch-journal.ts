import { type ItemOutcome } from '@switchyard/engine-api/engine.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';

export interface EngineCall<Value> {
  readonly batchId: string;
  readonly startedMs: number;
  readonly deviceMs: number;
  /** One per member, in order. */
  readonly outcomes: readonly ItemOutcome<Value>[];
}

/** One item of an engine call. */
interface BatchMember {
  readonly id: string;
  readonly prepMs: number;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)}s`;

/** What an engine returned for an item, as one line of the log. */
function itemText({
  transcript,
  durationS = 0,
  dimensions,
}: {
  readonly transcript?: { readonly language: string };
  readonly durationS?: number;
  readonly dimensions?: number;
}): string {
  if (dimensions !== undefined) return `embedded: dimensions=${dimensions}`;
  const duration = `duration=${seconds(durationS * 1000)}`;
  return transcript
    ? `transcribed: language=${transcript.language.toUpperCase()} ${duration}`
    : `spoken: ${duration}`;
}

/**
 * Log lines at level info, with the numbers also as fields: four before an engine call,
 * one per item and one after.
 */
export class BatchJournal {
  /**
   * @param marks of a worker that pulls: what each engine call is made of. There "Batch
   *   collected" is logged when a group leaves the queue
   */
  constructor(
    private readonly log: { info(fields: Fields, message: string): void },
    private readonly marks?: {
      entering(ids: readonly string[]): void;
      survived(ids: readonly string[]): void;
    },
  ) {}

  /** Logs a group; to be called right before its engine call. */
  collected(members: readonly BatchMember[], maxBatch: number): void {
    const size = members.length;
    if (this.marks) this.marks.entering(members.map(({ id }) => id));
    else
      this.log.info(
        { event: 'batch_collected', size, maxBatch },
        `Batch collected: ${size}/${maxBatch} items`,
      );
    const prepMs = Math.max(...members.map(member => member.prepMs));
    this.log.info({ event: 'batch_ready', size }, `Batch ready: size=${size}, taking the device`);
    const prepared = `Micro-batch CPU prep done: ${seconds(prepMs)} for ${size} items`;
    this.log.info({ event: 'batch_prepared', size, prepMs }, prepared);
    this.log.info({ event: 'batch_start', size }, `Micro-batch start: size=${size}`);
  }

  done(members: readonly BatchMember[], result: EngineCall<unknown>): void {
    const { batchId, deviceMs, outcomes } = result;
    this.marks?.survived(members.filter((_, at) => outcomes[at]?.ok).map(({ id }) => id));
    outcomes.forEach((outcome, index) => {
      const text = outcome.ok
        ? itemText(outcome.value as Parameters<typeof itemText>[0])
        : `failed: ${outcome.error.message}`;
      const itemMs = deviceMs / outcomes.length;
      const fields = {
        event: 'item_done',
        requestId: members[index]?.id,
        batchId,
        ok: outcome.ok,
        deviceMs: itemMs,
      };
      this.log.info(fields, `Batch item ${text} gpu_time=${seconds(itemMs)}`);
    });
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
      `Micro-batch done: ${succeeded}/${members.length} succeeded in ${total} ` +
        `(prep=${seconds(prepMs)} device=${seconds(deviceMs)})`,
    );
  }
}

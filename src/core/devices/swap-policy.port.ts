/**
 * Where a model is. `loading` ends when it takes requests. A model that is `leaving` takes
 * no further ones: it ends what it has, then its process, and counts until that has ended.
 */
export type Stage = 'absent' | 'loading' | 'resident' | 'leaving';

/** A device with memory that models share. Bytes. */
export interface SharedDevice {
  readonly id: string;
  /** Bytes of it that its models may use together. */
  readonly memory: number;
}

/** A model that needs memory of a device, as configured and measured. */
export interface PlaceableModel {
  readonly id: string;
  /** Devices that it may be on, the preferred one first. */
  readonly devices: readonly string[];
  /** Bytes. */
  readonly memory: number;
  /** Loaded from the beginning; never leaves. */
  readonly pin?: boolean | undefined;
  /** Loaded while there is room for it, also when nobody waits; leaves like any other. */
  readonly prewarm?: boolean | undefined;
  /** Milliseconds that it stays while it is in use; absent: five load times. */
  readonly minResidenceMs?: number | undefined;
}

/** What is asked of a model now. Times are monotonic milliseconds; Infinity: none waits. */
export interface Demand {
  /** Requests and sessions that wait for it. */
  readonly waiting: number;
  /** Arrival of the oldest that waits, and of the oldest REALTIME one. */
  readonly oldestMs: number;
  readonly oldestRealtimeMs: number;
  /**
   * When the first that waits is due: REALTIME when it comes, BATCH when it is aged, one
   * with a deadline at its latest start if that is earlier.
   */
  readonly dueMs: number;
  /** Requests and live sessions that its workers have. */
  readonly running: number;
  /** Monotonic milliseconds at which a request last ran or waited. */
  readonly usedMs: number;
  /** One of its workers takes requests. */
  readonly serves: boolean;
}

export interface ModelAtDevice extends PlaceableModel {
  readonly stage: Stage;
  /** Undefined: it is absent. */
  readonly device: string | undefined;
  /** Monotonic milliseconds at which its stage began. */
  readonly sinceMs: number;
  /** Milliseconds that a load of it probably takes. */
  readonly loadMs: number;
  readonly demand: Demand;
}

export const SWAP_REASONS = ['pin', 'realtime', 'aged', 'waiting', 'prewarm'] as const;
type SwapReason = (typeof SWAP_REASONS)[number];

/** A model is to be loaded on a device, when those that leave for it are gone. */
export interface Swap {
  readonly model: string;
  readonly device: string;
  readonly leaving: readonly string[];
  /** When these may leave; Infinity: when requests that wait for them have been sent. */
  readonly atMs: number;
  readonly reason: SwapReason;
}

/** Which model is next, where, who leaves for it, and when. Pure: it keeps nothing. */
export interface SwapPolicy {
  /**
   * Swaps for all models that are wanted and absent, most urgent first. All of them
   * together with the models that stay must fit.
   * @param models as they are at `nowMs`; those whose load failed lately are left out
   */
  plan(
    models: readonly ModelAtDevice[],
    devices: readonly SharedDevice[],
    nowMs: number,
  ): readonly Swap[];
}

/** Nothing waits for it and nothing runs. */
export const isIdle = ({ demand }: ModelAtDevice): boolean =>
  demand.running === 0 && demand.waiting === 0;

/** It holds memory that it will keep unless it is told to leave. */
export const stays = ({ stage }: ModelAtDevice): boolean =>
  stage === 'loading' || stage === 'resident';

export const memoryOf = (models: readonly { readonly memory: number }[]): number =>
  models.reduce((sum, { memory }) => sum + memory, 0);

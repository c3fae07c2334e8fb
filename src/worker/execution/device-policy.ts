import { SlotMap } from '@switchyard/engine-api/slot-map.js';
import { type CallGroup } from '@switchyard/worker-protocol/call.codec.js';
import { blended } from '../../core/latency/means.js';

/** The state of the device and the READY items, when an engine call could start. */
interface DeviceView {
  /** Items that could go now, at least 1. */
  readonly ready: number;
  readonly maxBatch: number;
  /** Engine calls that run now. */
  readonly running: number;
  /** Group of the first item to go. */
  readonly group: CallGroup;
  /** The first item to go is REALTIME: it waits for its own group only. */
  readonly realtime: boolean;
  /**
   * What the engine expects an engine call to take, milliseconds; absent: it
   * does not know.
   */
  readonly callMs?: number;
}

/** Members of a group, from the first arrival until none is left in the worker. */
interface Members {
  readonly size: number;
  readonly firstArrivedMs: number;
  arrived: number;
  preparing: number;
  present: number;
}

/**
 * Allows for arrivals delayed by a busy machine; only a member that never comes
 * costs this time.
 */
const FLOOR_MS = 50;

/**
 * For a device whose calls are short; one that is slower may wait for half of
 * its usual time.
 */
const CEILING_MS = 250;

/**
 * Longest wait for a group, and for items of other groups, as a share of the
 * usual device time.
 */
const GROUP_SHARE = 0.5;

const OTHERS_SHARE = 0.25;

/** A group is waited for twice as long as groups usually take to be READY. */
const SLACK = 2;

const GROUP_WEIGHT = 0.2;

const CALL_WEIGHT = 0.15;

/**
 * Decides when the device takes what is READY (D-24). An idle device waits for the rest
 * of the first item's group, at most twice as long as groups usually take. A device
 * whose calls take so long that it pays also waits for what else is being prepared:
 * uploads that came together would otherwise be computed one after the other. After an
 * engine call that left READY items it does not wait. Pure: the caller passes the time
 * and does the waiting.
 */
export class DevicePolicy {
  readonly #groups = new SlotMap<string, Members>();
  #preparing = 0;
  /** Usual time from the first arrival of a group until all are READY, milliseconds. */
  #gatherMs: number | undefined;
  /** Usual time of an engine call, milliseconds. */
  #callMs: number | undefined;
  /** An engine call ended while READY items were left. */
  #freed = false;
  #waitingSinceMs: number | undefined;

  /** Groups of which a member is in the worker. */
  get groups(): number {
    return this.#groups.size;
  }

  arrived({ id, size }: CallGroup, nowMs: number): void {
    this.#preparing += 1;
    if (size <= 1) return;
    const members = this.#groups.get(id) ?? {
      size,
      firstArrivedMs: nowMs,
      arrived: 0,
      preparing: 0,
      present: 0,
    };
    this.#groups.set(id, members);
    members.arrived += 1;
    members.preparing += 1;
    members.present += 1;
  }

  /**
   * @param isReady false: its preparation failed or was cancelled, and the others no
   *   longer wait for it
   */
  prepared({ id }: CallGroup, isReady: boolean, nowMs: number): void {
    this.#preparing -= 1;
    const members = this.#groups.get(id);
    if (members === undefined) return;
    members.preparing -= 1;
    if (!isReady || missingOf(members) > 0) return;
    this.#gatherMs = blended(this.#gatherMs, nowMs - members.firstArrivedMs, GROUP_WEIGHT);
  }

  /**
   * Every item that arrived leaves, whatever happened in between: a member that never
   * came goes with the others.
   */
  departed({ id }: CallGroup): void {
    const members = this.#groups.get(id);
    if (members === undefined) return;
    members.present -= 1;
    if (members.present === 0) this.#groups.delete(id);
  }

  /** Notes that an engine call has ended. */
  ended(deviceMs: number): void {
    this.#freed = true;
    this.#callMs = blended(this.#callMs, deviceMs, CALL_WEIGHT);
  }

  /**
   * Monotonic milliseconds until which the device waits; undefined: it takes
   * what is READY.
   */
  waitsUntilMs(device: DeviceView, nowMs: number): number | undefined {
    this.#callMs ??= device.callMs;
    if (this.#freed || device.ready >= device.maxBatch) return undefined;
    const untilMs =
      (this.#waitingSinceMs ?? nowMs) + Math.max(this.#groupMs(device), this.#othersMs(device));
    if (nowMs >= untilMs) return undefined;
    this.#waitingSinceMs ??= nowMs;
    return untilMs;
  }

  /** Nothing is held any more: the device took what was READY, or nothing is. */
  over(): void {
    this.#freed = false;
    this.#waitingSinceMs = undefined;
  }

  /** Milliseconds to wait for the rest of the first item's group. */
  #groupMs({ running, group }: DeviceView): number {
    const members = this.#groups.get(group.id);
    if (running > 0 || members === undefined || missingOf(members) === 0) return 0;
    const ceilingMs = Math.max(CEILING_MS, GROUP_SHARE * (this.#callMs ?? 0));
    if (this.#gatherMs === undefined) return ceilingMs;
    return Math.min(ceilingMs, Math.max(FLOOR_MS, SLACK * this.#gatherMs));
  }

  /** Milliseconds to wait for items of other groups; 0 for a fast device. */
  #othersMs({ realtime }: DeviceView): number {
    if (this.#preparing === 0 || realtime) return 0;
    const worthMs = OTHERS_SHARE * (this.#callMs ?? 0);
    return worthMs < FLOOR_MS ? 0 : worthMs;
  }
}

const missingOf = ({ size, arrived, preparing }: Members): number =>
  Math.max(0, size - arrived) + preparing;

import { Account, type Entry, type WeightOf } from './account.js';
import { type Accepts, best, firstOf, nextOf } from './contenders.js';
import { KeyedHeap } from './keyed-heap.js';
import { LanePreview } from './lane-preview.js';
import { type Link, SortedList } from './sorted-list.js';

/**
 * Waiting entries and bytes of one tenant in a lane, and the number of tenants that
 * wait in it.
 */
export interface TenantLoad {
  readonly requests: number;
  readonly bytes: number;
  readonly tenants: number;
}

/** Accounts of tenants without entries that a lane keeps at most. */
const MAX_IDLE = 1000;

/**
 * Entries of one class. Tenants share by work (D-25): start-time fair queueing. The
 * tenant with the smallest start tag is next; its tag then grows by cost / weight. The
 * tag of a tenant that returns is at least the virtual time, which is the largest start
 * tag served: idle time is not saved up. O(log tenants) per change.
 */
export class WeightedLane<T> {
  readonly #accounts = new Map<string, Account<T>>();
  /** Tenants with entries, by start tag. */
  readonly #turns = new KeyedHeap<Account<T>>();
  /** All entries by the time at which they age. */
  readonly ages = new SortedList<Entry<T>>();
  /** First entry not yet reported as aged. */
  #young: Link<Entry<T>> | undefined;
  /** Entries, their bytes, and the largest start tag served. */
  size = 0;
  bytes = 0;
  virtualTime = 0;
  #noticedAtMs = -Infinity;

  constructor(private readonly weightOf: WeightOf) {}

  /** Accounts in memory. */
  get accounts(): number {
    return this.#accounts.size;
  }

  /** The oldest entry that `takeAged` has not returned. */
  get oldestYoung(): Entry<T> | undefined {
    return this.#young?.of;
  }

  /** The smallest `orderMs` of an entry; Infinity: it has none. O(tenants) */
  get firstOrderMs(): number {
    return Math.min(...this.#turns.items.map(({ first }) => first?.key ?? Infinity));
  }

  loadOf(tenant: string): TenantLoad {
    const account = this.#accounts.get(tenant);
    return {
      requests: account?.size ?? 0,
      bytes: account?.bytes ?? 0,
      tenants: this.#turns.items.length,
    };
  }

  /** True while an entry is aged. From then on `next` knows which ones are. */
  hasAged(nowMs: number): boolean {
    this.#noticedAtMs = nowMs;
    const { first } = this.ages;
    return first !== undefined && first.key <= nowMs;
  }

  /**
   * The entry that goes next; it stays.
   * @param agedOnly of tenants whose next one is aged; without `accepts`, of any tenant
   *   if there is none
   * @param accepts absent: all may go
   */
  next(agedOnly = false, accepts?: Accepts<T>): Entry<T> | undefined {
    return nextOf(this.#turns, agedOnly ? this.#noticedAtMs : Infinity, accepts);
  }

  /** The same, without tenants whose next entry is one of `excluded`. O(tenants) */
  nextBeside(excluded: Accepts<T>, agedOnly: boolean): Entry<T> | undefined {
    return best(this.#turns, agedOnly ? this.#noticedAtMs : Infinity, undefined, excluded);
  }

  /** Adds an entry behind its equals. @param isAhead of its equals instead */
  append(entry: Entry<T>, isAhead = false): void {
    const { age, place, turn } = entry;
    const account = this.#accountOf(place.tenant);
    if (account.size === 0) account.notBefore(this.virtualTime);
    account.count(1, place);
    entry.joined(account);
    this.size += 1;
    this.bytes += place.bytes;
    account.insert(turn, isAhead);
    this.ages.insert(age, isAhead);
    const youngMs = this.#young?.key;
    if (youngMs === undefined || age.key < youngMs || (isAhead && age.key === youngMs))
      this.#young = age;
    if (account.first === turn) this.#put(account);
  }

  /**
   * Adds an entry again that was taken, ahead of its equals. Its charge is returned: it
   * was not computed.
   */
  restore(entry: Entry<T>): void {
    const { tenant, costMs } = entry.place;
    this.correct(tenant, -costMs);
    this.append(entry, true);
  }

  /** Removes an entry that is sent, and charges its tenant. */
  take(entry: Entry<T>): void {
    const { account, place } = entry;
    if (account === undefined) return;
    this.#serve(account, place.costMs);
    this.remove(entry);
  }

  /**
   * It leaves without having been sent: its tenant keeps its place. @returns false when
   * it does not wait
   */
  remove(entry: Entry<T>): boolean {
    const { account, age, turn, place } = entry;
    if (account === undefined) return false;
    entry.left();
    if (this.#young === age) this.#young = age.after;
    this.ages.remove(age);
    account.remove(turn);
    account.count(-1, place);
    this.size -= 1;
    this.bytes -= place.bytes;
    this.#put(account);
    return true;
  }

  /** Work of this tenant is done now, besides what it was charged for its entries. */
  charge(tenant: string, costMs: number): void {
    const account = this.#accountOf(tenant);
    this.#serve(account, costMs);
    this.#put(account);
  }

  /** Some of its work turned out larger by `ms` than charged; smaller if negative. */
  correct(tenant: string, ms: number): void {
    // Unknown: forgotten, or it came from elsewhere. Only what it owes counts.
    if (ms <= 0 && !this.#accounts.has(tenant)) return;
    const account = this.#accountOf(tenant);
    if (account.size === 0) account.notBefore(this.virtualTime);
    account.served(ms / this.weightOf(tenant));
    this.#put(account);
  }

  /**
   * An entry of this tenant had a turn, and stays. Tenants none of whose entries
   * `accepts` takes have lost theirs.
   */
  turn(tenant: string, accepts: Accepts<T>): void {
    this.charge(tenant, 1);
    for (const account of [...this.#turns.items]) {
      if (firstOf(account, accepts) !== undefined) continue;
      account.notBefore(this.virtualTime + 1 / this.weightOf(account.tenant));
      this.#put(account);
    }
  }

  /** All tenants have equal claims again. */
  newRound(): void {
    this.virtualTime = 0;
    for (const account of this.#accounts.values()) {
      account.startAt(0);
      if (account.size > 0) this.#put(account);
      else this.#accounts.delete(account.tenant);
    }
  }

  /** Entries that have aged since the last call, oldest first. */
  takeAged(nowMs: number): T[] {
    this.#noticedAtMs = nowMs;
    const aged: T[] = [];
    let young = this.#young;
    for (; young !== undefined && young.key <= nowMs; young = young.after) {
      if (young.of.report()) aged.push(young.of.item);
    }
    this.#young = young;
    return aged;
  }

  /**
   * Where such an entry starts in virtual time if it comes now: behind what its tenant
   * has waiting before it.
   */
  startTagOf(tenant: string, orderMs: number): number {
    const account = this.#accounts.get(tenant);
    if (account === undefined || account.size === 0)
      return Math.max(account?.startTag ?? 0, this.virtualTime);
    let workMs = account.costMs;
    for (let link = account.last; link !== undefined && link.key > orderMs; link = link.before)
      workMs -= link.of.place.costMs;
    return account.startTag + Math.max(0, workMs) / this.weightOf(tenant);
  }

  /** Continues with the accounts of another lane that has the same entries. */
  resume(other: WeightedLane<unknown>): void {
    this.virtualTime = other.virtualTime;
    for (const { tenant, startTag } of other.#accounts.values()) {
      const account = this.#accountOf(tenant);
      account.startAt(startTag);
      if (account.size > 0) this.#put(account);
    }
  }

  /** The order from here on, if no entry comes, ages or is corrected. */
  preview(nowMs: number): LanePreview<T> {
    let aged = 0;
    let link = this.ages.first;
    for (; link !== undefined && link.key <= nowMs; link = link.after) aged += 1;
    return new LanePreview(this.#turns.items, this.weightOf, nowMs, aged);
  }

  #serve(account: Account<T>, costMs: number): void {
    this.virtualTime = Math.max(this.virtualTime, account.startTag);
    account.served(costMs / this.weightOf(account.tenant));
  }

  #accountOf(tenant: string): Account<T> {
    let account = this.#accounts.get(tenant);
    if (account === undefined) this.#accounts.set(tenant, (account = new Account<T>(tenant)));
    return account;
  }

  #put(account: Account<T>): void {
    const { first } = account;
    if (first !== undefined)
      return this.#turns.put(account, account.startTag, first.of.place.sinceMs);
    this.#turns.remove(account);
    if (this.#accounts.size - this.#turns.items.length > MAX_IDLE) this.#forget();
  }

  /**
   * An account behind the virtual time says nothing; of the others, the oldest are
   * forgotten when there are many.
   */
  #forget(): void {
    let idle = this.#accounts.size - this.#turns.items.length;
    for (const [tenant, { size, startTag }] of this.#accounts) {
      if (size > 0 || (startTag > this.virtualTime && idle <= MAX_IDLE / 2)) continue;
      this.#accounts.delete(tenant);
      idle -= 1;
    }
  }
}

import { type SlotCosts } from './llama-protocol.js';

export type SlotOperation =
  | { readonly type: 'cut'; readonly slot: number; readonly keep: number }
  | { readonly type: 'copy'; readonly slot: number; readonly keep: number; readonly from: number };

/** Where a sequence goes on, and how many of its tokens are there once `operations` are done. */
export interface Placement {
  readonly slot: number;
  readonly have: number;
  readonly operations: readonly SlotOperation[];
  /** It was not in this slot in the last step. */
  readonly isNew: boolean;
}

export interface SlotTableOptions {
  readonly slots: number;
  readonly costs: SlotCosts;
  /** False: what is behind a position cannot be cut off, so only a whole slot can be gone on with. */
  readonly cutsBack: boolean;
}

interface Slot<K> {
  readonly index: number;
  holder: K | undefined;
  salt: string;
  tokens: number[];
  /** The native memory may hold more than `tokens`: a step failed. */
  dirty: boolean;
  /** Counts placements; the smallest was not used for the longest. */
  usedAt: number;
}

/**
 * Which sequence has which slot of the native context, and what every slot still holds. KV memory of llama.cpp is private to
 * a slot: a beginning is shared by keeping a slot whose end is cut off, by copying, or not at all; never under another salt.
 */
export class SlotTable<K> {
  readonly #options: SlotTableOptions;
  readonly #slots: Slot<K>[];
  readonly #held = new Map<K, Slot<K>>();
  #clock = 0;

  constructor(options: SlotTableOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.slots }, (_, index) => ({
      ...{ index, holder: undefined, salt: '', tokens: [], dirty: false, usedAt: 0 },
    }));
  }

  /** Tokens in slots that no sequence holds: findable until their slot is needed. */
  get kept(): number {
    return this.#slots.reduce((sum, { holder, tokens }) => sum + (holder === undefined ? tokens.length : 0), 0);
  }

  /** Gives the sequence a slot in which its first tokens are `before`, or as many of them as are cheaper had than computed. */
  place(key: K, salt: string, before: readonly number[]): Placement {
    const held = this.#held.get(key);
    const slot = held ?? this.#cheapest(salt, before);
    const isNew = held === undefined;
    const operations: SlotOperation[] = [];
    if (isNew) this.#seat(key, slot, { salt, before, operations });
    this.#cut(slot, before.length, operations);
    slot.usedAt = ++this.#clock;
    return { slot: slot.index, have: slot.tokens.length, operations, isNew };
  }

  /** Computed from `position` on. */
  wrote(key: K, position: number, tokens: readonly number[]): void {
    const slot = this.#held.get(key);
    if (slot?.tokens.length !== position) throw new Error(`Nothing was placed at ${position}.`);
    slot.tokens.push(...tokens);
  }

  /** The step failed: what it wrote has to be cut off before anything else is done. */
  spoiled(key: K): void {
    const slot = this.#held.get(key);
    if (slot) slot.dirty = true;
  }

  /** Its slot is free, and what is in it can be found. */
  release(key: K): void {
    const slot = this.#held.get(key);
    if (slot === undefined) return;
    this.#held.delete(key);
    slot.holder = undefined;
  }

  #seat(
    key: K,
    slot: Slot<K>,
    { salt, before, operations }: { salt: string; before: readonly number[]; operations: SlotOperation[] },
  ): void {
    const source = this.#source(slot, salt, before);
    this.#held.set(key, slot);
    slot.holder = key;
    slot.salt = salt;
    const keep = source === undefined ? 0 : this.#usable(source, salt, before);
    if (source === undefined || source === slot) return this.#cut(slot, keep, operations);
    operations.push({ type: 'copy', slot: slot.index, keep, from: source.index });
    slot.tokens = source.tokens.slice(0, keep);
    slot.dirty = false;
  }

  /** Where the beginning comes from: the slot itself, another one, or nowhere. */
  #source(slot: Slot<K>, salt: string, before: readonly number[]): Slot<K> | undefined {
    const own = this.#usable(slot, salt, before);
    const longest = this.#longest(salt, before);
    const { computeMs, copyMs } = this.#options.costs;
    const isWorthIt = longest !== undefined && (longest.usable - own) * computeMs > copyMs;
    if (isWorthIt) return longest.slot;
    return own > 0 ? slot : undefined;
  }

  /** The free slot that costs least: nothing to copy, little to compute, and nobody will miss what it held. */
  #cheapest(salt: string, before: readonly number[]): Slot<K> {
    const free = this.#slots.filter(({ holder }) => holder === undefined);
    const own = (slot: Slot<K>): number => this.#usable(slot, salt, before);
    const lost = (slot: Slot<K>): number => (slot.tokens.length > 0 ? slot.usedAt : -1);
    const [best] = free.sort((a, b) => own(b) - own(a) || lost(a) - lost(b));
    if (best === undefined) throw new Error('More sequences than slots.');
    return best;
  }

  #longest(salt: string, before: readonly number[]): { slot: Slot<K>; usable: number } | undefined {
    let longest: { slot: Slot<K>; usable: number } | undefined;
    for (const slot of this.#slots) {
      const usable = this.#usable(slot, salt, before);
      if (usable > (longest?.usable ?? 0)) longest = { slot, usable };
    }
    return longest;
  }

  /** Tokens of `before` that this slot begins with. */
  #usable({ salt: own, tokens, dirty }: Slot<K>, salt: string, before: readonly number[]): number {
    if (own !== salt) return 0;
    let same = 0;
    while (same < tokens.length && same < before.length && tokens[same] === before[same]) same++;
    return this.#options.cutsBack || (same === tokens.length && !dirty) ? same : 0;
  }

  #cut(slot: Slot<K>, keep: number, operations: SlotOperation[]): void {
    if (slot.tokens.length <= keep && !slot.dirty) return;
    const kept = this.#options.cutsBack ? Math.min(keep, slot.tokens.length) : 0;
    slot.tokens.length = kept;
    slot.dirty = false;
    operations.push({ type: 'cut', slot: slot.index, keep: kept });
  }
}

import { AWAITED, type SlotCosts } from './llama-protocol.js';

export type SlotOperation =
  | { readonly type: 'cut'; readonly slot: number; readonly keep: number }
  | { readonly type: 'copy'; readonly slot: number; readonly keep: number; readonly from: number };

/** Where a sequence goes on, and how many of its tokens are there once `operations` are done. */
export interface Placement {
  readonly slot: number;
  readonly have: number;
  readonly operations: readonly SlotOperation[];
  /** It was not in this slot in the last step, or that failed. */
  readonly isNew: boolean;
}

/** A sequence that wants to go on behind the first `position` of its tokens. */
export interface Continued {
  readonly salt: string;
  readonly tokens: readonly number[];
  readonly position: number;
}

export interface SlotMemoryOptions {
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
  /** The native memory may hold more than `tokens`: nothing is known of it yet, or a step failed. */
  dirty: boolean;
  /** Counts placements; the smallest was not used for the longest. */
  usedAt: number;
}

/**
 * Which sequence has which slot of the native context, and what every slot still holds. KV memory of llama.cpp is private to
 * a slot: a beginning is shared by keeping a slot whose end is cut off, by copying, or not at all; never under another salt.
 */
export class SlotMemory<K> {
  readonly #options: SlotMemoryOptions;
  readonly #slots: Slot<K>[];
  readonly #held = new Map<K, Slot<K>>();
  #clock = 0;

  constructor(options: SlotMemoryOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.slots }, (_, index) => ({
      ...{ index, holder: undefined, salt: '', tokens: [], dirty: true, usedAt: 0 },
    }));
  }

  /** Tokens in slots that no sequence holds: findable until their slot is needed. */
  get kept(): number {
    return this.#slots.reduce((sum, { holder, tokens }) => sum + (holder === undefined ? tokens.length : 0), 0);
  }

  /** Gives the sequence a slot that begins as it does, or with as much of that as is had cheaper than computed. */
  place(key: K, wanted: Continued): Placement {
    const held = this.#held.get(key);
    const slot = held ?? this.#cheapest(wanted);
    const isNew = held === undefined || held.dirty;
    const operations: SlotOperation[] = [];
    if (held === undefined) this.#seat(key, slot, wanted, operations);
    this.#cut(slot, wanted.position, operations);
    slot.usedAt = ++this.#clock;
    return { slot: slot.index, have: slot.tokens.length, operations, isNew };
  }

  /** Computed from `position` on, or will be once the steps that run are done; a token that is drawn only now is `AWAITED`. */
  wrote(key: K, position: number, tokens: readonly number[]): void {
    const slot = this.#held.get(key);
    if (slot?.tokens.length !== position) throw new Error(`Nothing was placed at ${position}.`);
    slot.tokens.push(...tokens);
  }

  /** The token that was awaited at this position. */
  drew(index: number, position: number, token: number): void {
    const { tokens } = this.#slots[index]!;
    if (tokens[position] === AWAITED) tokens[position] = token;
  }

  /**
   * A step failed, or was not run: behind the first `keep` tokens anything may be in the slot, whoever holds it by now, and has to
   * be cut off before anything else is done.
   */
  spoiled(index: number, keep: number): void {
    const slot = this.#slots[index]!;
    slot.tokens.length = Math.min(slot.tokens.length, keep);
    slot.dirty = true;
  }

  /** Its slot is free, and what is in it can be found. */
  release(key: K): void {
    const slot = this.#held.get(key);
    if (slot === undefined) return;
    this.#held.delete(key);
    slot.holder = undefined;
  }

  #seat(key: K, slot: Slot<K>, wanted: Continued, operations: SlotOperation[]): void {
    const source = this.#source(slot, wanted);
    const keep = source === undefined ? 0 : this.#usable(source, wanted);
    this.#held.set(key, slot);
    slot.holder = key;
    slot.salt = wanted.salt;
    if (source === undefined || source === slot) return this.#cut(slot, keep, operations);
    operations.push({ type: 'copy', slot: slot.index, keep, from: source.index });
    slot.tokens = source.tokens.slice(0, keep);
    slot.dirty = false;
  }

  /** Where the beginning comes from: the slot itself, another one, or nowhere. */
  #source(slot: Slot<K>, wanted: Continued): Slot<K> | undefined {
    const own = this.#usable(slot, wanted);
    const longest = this.#longest(wanted);
    const { computeMs, copyMs } = this.#options.costs;
    const isWorthIt = longest !== undefined && (longest.usable - own) * computeMs > copyMs;
    if (isWorthIt) return longest.slot;
    return own > 0 ? slot : undefined;
  }

  /**
   * The free slot that costs least: nothing to copy, little to compute, no gap between those that are held (each gap is one more
   * pass through the model in every step), and nobody will miss what it held.
   */
  #cheapest(wanted: Continued): Slot<K> {
    const free = this.#slots.filter(({ holder }) => holder === undefined);
    const own = new Map(free.map(slot => [slot, this.#usable(slot, wanted)]));
    const lost = (slot: Slot<K>): number => (slot.tokens.length > 0 ? slot.usedAt : -1);
    const [best] = free.sort(
      (a, b) => own.get(b)! - own.get(a)! || this.#heldBeside(b) - this.#heldBeside(a) || lost(a) - lost(b),
    );
    if (best === undefined) throw new Error('More sequences than slots.');
    return best;
  }

  #heldBeside({ index }: Slot<K>): number {
    const isHeld = (at: number): number => (this.#slots[at]?.holder === undefined ? 0 : 1);
    return isHeld(index - 1) + isHeld(index + 1);
  }

  #longest(wanted: Continued): { slot: Slot<K>; usable: number } | undefined {
    let longest: { slot: Slot<K>; usable: number } | undefined;
    for (const slot of this.#slots) {
      const usable = this.#usable(slot, wanted);
      if (usable > (longest?.usable ?? 0)) longest = { slot, usable };
    }
    return longest;
  }

  /** Tokens that this slot begins with as well. */
  #usable({ salt, tokens, dirty }: Slot<K>, wanted: Continued): number {
    if (salt !== wanted.salt) return 0;
    const most = Math.min(tokens.length, wanted.position);
    let same = 0;
    while (same < most && tokens[same] === wanted.tokens[same]) same++;
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

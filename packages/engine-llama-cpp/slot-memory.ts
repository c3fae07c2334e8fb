import { type KvMemory, type MemoryRequest } from '@switchyard/engine-api/generation-request.js';
import { MemorySlot } from './memory-slot.js';
import { type ChildInfo, type SlotOperation } from './protocol.js';

/**
 * KV memory of llama.cpp: a slot of the native context for each sequence. A beginning is
 * shared by keeping a free slot whose end is cut off, or by a copy, and only under the
 * same salt. Free slots keep what they hold until its room is needed. What has to happen
 * in native memory is collected as operations, which `takeOperations` hands to the next
 * native run in the order in which they were decided.
 */
export class SlotMemory implements KvMemory<object> {
  readonly #slots: MemorySlot[];
  /** What is known of the process once its model is loaded. */
  #properties: Pick<ChildInfo, 'costs' | 'cutsBack'> = {
    costs: { computeMs: 0, copyMs: 0 },
    cutsBack: true,
  };
  #operations: SlotOperation[] = [];
  #clock = 0;

  constructor(
    private readonly options: {
      readonly slots: number;
      /** Most tokens of one slot. */
      readonly slotTokens: number;
      /**
       * Tokens of all slots together, `slotTokens` to `slots` times that; with fewer than
       * that, slots share them.
       */
      readonly tokens: number;
      readonly blockTokens: number;
    },
  ) {
    this.#slots = Array.from({ length: options.slots }, (_, index) => new MemorySlot(index));
  }

  get blocks(): number {
    return this.blocksFor(this.options.tokens);
  }

  get blockTokens(): number {
    return this.options.blockTokens;
  }

  get available(): number {
    return this.#slots.reduce(
      (blocks, { reserved }) => blocks - this.blocksFor(reserved),
      this.blocks,
    );
  }

  get capacity(): number {
    return this.options.slotTokens;
  }

  /**
   * Computed tokens in slots that no sequence holds: they can be found until their
   * slot is needed.
   */
  get kept(): number {
    return this.#slots.reduce(
      (sum, { holder, computed }) => sum + (holder === undefined ? computed : 0),
      0,
    );
  }

  blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.options.blockTokens);
  }

  /** A sequence has one block, its slot: a list with the index of the slot. */
  blocksOf(key: object): readonly number[] {
    return [this.#slotOf(key).index];
  }

  heldAlone(key: object): number {
    return this.blocksFor(this.#slotOf(key).reserved);
  }

  allocate(key: object, request: MemoryRequest): number | undefined {
    if (this.#heldBy(key)) throw new Error('This sequence holds a slot already.');
    if (request.capacity > this.capacity || this.blocksFor(request.capacity) > this.available)
      return undefined;
    const slot = this.#cheapest(request);
    if (slot === undefined) return undefined;
    this.#fill(slot, request);
    slot.hold(key, request, ++this.#clock);
    this.#makeRoom();
    return slot.computed;
  }

  grow(key: object, tokens: number): boolean {
    const slot = this.#slotOf(key);
    if (tokens <= slot.reserved) return true;
    if (
      tokens > this.capacity ||
      this.blocksFor(tokens) - this.blocksFor(slot.reserved) > this.available
    )
      return false;
    slot.reserve(tokens);
    this.#makeRoom();
    return true;
  }

  /**
   * Free slots are all alike to a sequence that waits for one: it finds no
   * more than before.
   */
  computed(key: object, count: number): boolean {
    this.#slotOf(key).count(count);
    return false;
  }

  intact(key: object): number {
    return this.#slotOf(key).computed;
  }

  release(key: object): void {
    this.#heldBy(key)?.release();
  }

  forgetContents(): void {
    this.#operations = [];
    for (const slot of this.#slots) slot.forget();
  }

  /** A new process: nothing is in its slots, whatever their holders count on. */
  reset(properties: Pick<ChildInfo, 'costs' | 'cutsBack'>): void {
    this.#properties = properties;
    this.forgetContents();
  }

  audit(): void {
    for (const { index, holder, computed, written, tokens } of this.#slots) {
      if (holder !== undefined && this.#heldBy(holder)?.index !== index)
        throw new Error(`Slot ${index} is held by a sequence that has another one.`);
      if (computed > written || computed > tokens.length)
        throw new Error(
          `Slot ${index}: ${computed} computed of ${written} written and ${tokens.length} known tokens.`,
        );
    }
    if (this.available < this.#keptBlocks)
      throw new Error(
        `${this.#keptBlocks} blocks are kept, and only ${this.available} are not reserved.`,
      );
  }

  /**
   * `count` tokens from `position` on go through the model in the next run; what stood
   * there is cut off first.
   */
  write(index: number, position: number, count: number): void {
    const slot = this.#slots[index]!;
    if (position > slot.written)
      throw new Error(`Position ${position} of a slot with ${slot.written} tokens.`);
    if (slot.isDirty || slot.written > position) this.#cut(slot, position);
    slot.write(position + count, ++this.#clock);
  }

  /**
   * True once for each sequence in its slot, and again after a failed step: its sampler
   * has to be set up with `tokens`.
   */
  begins(index: number): Pick<MemorySlot, 'tokens'> | undefined {
    const slot = this.#slots[index]!;
    return slot.begins() ? slot : undefined;
  }

  /** What native memory has to do before the next run, in this order. */
  takeOperations(): readonly SlotOperation[] {
    const operations = this.#operations;
    this.#operations = [];
    return operations;
  }

  /**
   * A run failed, or was skipped, with these operations and items: what it wrote is void,
   * and what it copied is not there.
   */
  failed(operations: readonly SlotOperation[], indices: readonly number[]): void {
    for (const index of [...indices, ...operations.map(({ slot }) => slot)])
      this.#slots[index]!.spoil();
    for (const { type, slot } of operations) if (type === 'copy') this.#slots[slot]!.count(0);
    if (!this.#properties.cutsBack) for (const index of indices) this.#slots[index]!.count(0);
    // At once: others count on the room, whenever this slot is used again.
    for (const index of new Set(operations.map(({ slot }) => slot)))
      this.#cut(this.#slots[index]!, this.#slots[index]!.computed);
  }

  /**
   * Brings the beginning of the sequence into its slot: keeps it, copies it, or leaves it
   * to be computed.
   */
  #fill(slot: MemorySlot, request: MemoryRequest): void {
    const source = this.#source(slot, request);
    const keep = source === undefined ? 0 : this.#usable(source, request);
    if (source === undefined || source === slot) {
      if (slot.isDirty || slot.written > keep) this.#cut(slot, keep);
    } else {
      this.#operations.push({
        type: 'copy',
        slot: slot.index,
        keep,
        from: source.index,
      });
      slot.keep(keep);
    }
    slot.count(keep);
  }

  /** The slot that holds the beginning: this one, another one, or none. */
  #source(slot: MemorySlot, request: MemoryRequest): MemorySlot | undefined {
    const own = this.#usable(slot, request);
    const longest = this.#slots.reduce((best, other) =>
      this.#usable(other, request) > this.#usable(best, request) ? other : best,
    );
    const { computeMs, copyMs } = this.#properties.costs;
    if ((this.#usable(longest, request) - own) * computeMs > copyMs) return longest;
    return own > 0 ? slot : undefined;
  }

  /**
   * The free slot that costs least: nothing to copy, little to compute, no gap between
   * slots in use (each gap is one more pass through the model in every step), and the
   * contents that were unused for the longest.
   */
  #cheapest(request: MemoryRequest): MemorySlot | undefined {
    const free = this.#slots.filter(({ holder }) => holder === undefined);
    const own = new Map(free.map(slot => [slot, this.#usable(slot, request)]));
    const lost = (slot: MemorySlot): number => (slot.computed > 0 ? slot.usedAt : -1);
    const [best] = free.sort(
      (a, b) =>
        own.get(b)! - own.get(a)! || this.#heldBeside(b) - this.#heldBeside(a) || lost(a) - lost(b),
    );
    return best;
  }

  /**
   * Empties free slots, first the one that was unused for the longest, until the others
   * fit beside what is reserved.
   */
  #makeRoom(): void {
    const filled = this.#slots.filter(({ holder, written }) => holder === undefined && written > 0);
    for (const slot of filled.sort((a, b) => a.usedAt - b.usedAt)) {
      if (this.#keptBlocks <= this.available) return;
      this.#cut(slot, 0);
      slot.count(0);
    }
  }

  /** Blocks of slots that no sequence holds. */
  get #keptBlocks(): number {
    const kept = (slot: MemorySlot): number =>
      slot.holder === undefined ? this.blocksFor(slot.written) : 0;
    return this.#slots.reduce((blocks, slot) => blocks + kept(slot), 0);
  }

  #heldBeside({ index }: MemorySlot): number {
    const isHeld = (at: number): number => (this.#slots[at]?.holder === undefined ? 0 : 1);
    return isHeld(index - 1) + isHeld(index + 1);
  }

  /**
   * Tokens that this slot begins with as well, in whole blocks; one token at least is
   * left to compute.
   */
  #usable({ salt, tokens, computed }: MemorySlot, wanted: MemoryRequest): number {
    if (salt !== wanted.salt || !this.#properties.cutsBack) return 0;
    const most = Math.min(computed, wanted.tokens.length - 1);
    let same = 0;
    while (same < most && tokens[same] === wanted.tokens[same]) same++;
    return same - (same % this.blockTokens);
  }

  #cut(slot: MemorySlot, keep: number): void {
    this.#operations.push({ type: 'cut', slot: slot.index, keep });
    slot.keep(keep);
  }

  #slotOf(key: object): MemorySlot {
    const slot = this.#heldBy(key);
    if (slot === undefined) throw new Error('This sequence holds no slot.');
    return slot;
  }

  #heldBy(key: object): MemorySlot | undefined {
    return this.#slots.find(({ holder }) => holder === key);
  }
}

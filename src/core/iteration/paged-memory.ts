import { PrefixIndex } from './prefix-index.js';

export interface PagedMemoryOptions {
  /** Blocks of KV memory in all. */
  readonly blocks: number;
  /** Tokens in a block (DESIGN "Continuous batching": 32). */
  readonly blockTokens: number;
}

/** What a sequence got: its blocks, and how many of its first tokens need no prefill. */
export interface Allocation {
  readonly blocks: readonly number[];
  readonly reusedTokens: number;
}

interface Holding {
  readonly salt: string;
  readonly blocks: number[];
  /** Full blocks of this sequence that the index has been told of. */
  published: number;
}

/**
 * Who holds which block of KV memory. Allocation is all or nothing, sequences grow while they decode, equal beginnings share
 * blocks by reference count, and what nobody holds stays findable until its block is needed, the longest unused first.
 *
 *   held + kept + blank = blocks, always; `audit` counts after every step in tests.
 */
export class PagedMemory<K> {
  readonly #options: PagedMemoryOptions;
  readonly #index = new PrefixIndex();
  readonly #holdings = new Map<K, Holding>();
  readonly #references: Uint32Array;
  /** Nobody's and empty. */
  readonly #blank: number[];
  /** Nobody's, but findable; insertion order is the order of release. */
  readonly #kept = new Set<number>();

  constructor(options: PagedMemoryOptions) {
    this.#options = options;
    this.#references = new Uint32Array(options.blocks);
    this.#blank = Array.from({ length: options.blocks }, (_, index) => options.blocks - 1 - index);
  }

  /** Blocks that an allocation could take now. */
  get available(): number {
    return this.#blank.length + this.#kept.size;
  }

  /** Tokens that fit when nobody else is here. */
  get capacity(): number {
    return this.#options.blocks * this.#options.blockTokens;
  }

  /** False: so many tokens never fit, whoever leaves. To be refused at submit. */
  couldHold(tokens: number): boolean {
    return this.blocksFor(tokens) <= this.#options.blocks;
  }

  blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.#options.blockTokens);
  }

  /** What this sequence holds, in order of its tokens; grows with it. */
  blocksOf(key: K): readonly number[] {
    return this.#holding(key).blocks;
  }

  /** Blocks that become available when this sequence, alone or with others, is released. */
  heldAlone(key: K): number {
    return this.#holding(key).blocks.filter(block => this.#references[block] === 1).length;
  }

  /**
   * Memory for a prompt and what will follow it at once (`capacity` tokens); undefined, and nothing taken, when there is not
   * enough. At least one token of the prompt is always left to compute: its logits start the answer.
   */
  allocate(key: K, request: { salt: string; prompt: readonly number[]; capacity: number }): Allocation | undefined {
    if (this.#holdings.has(key)) throw new Error('This sequence holds blocks already.');
    const shareable = Math.floor((request.prompt.length - 1) / this.#options.blockTokens);
    const shared = this.#index.match(request.salt, this.#paths(request.prompt, shareable));
    const fresh = this.blocksFor(request.capacity) - shared.length;
    const revived = shared.filter(block => this.#references[block] === 0).length;
    if (fresh > this.available - revived) return undefined;
    for (const block of shared) this.#hold(block);
    const blocks = [...shared, ...Array.from({ length: Math.max(0, fresh) }, () => this.#fresh())];
    this.#holdings.set(key, { salt: request.salt, blocks, published: shared.length });
    return { blocks, reusedTokens: shared.length * this.#options.blockTokens };
  }

  /** Room for `tokens` in all; false, and nothing taken, when there is not enough. */
  grow(key: K, tokens: number): boolean {
    const { blocks } = this.#holding(key);
    const more = this.blocksFor(tokens) - blocks.length;
    if (more > this.available) return false;
    for (let taken = 0; taken < more; taken++) blocks.push(this.#fresh());
    return true;
  }

  /** The first tokens of this sequence are computed: its full blocks can be found by others from now on. */
  computed(key: K, tokens: readonly number[]): void {
    const holding = this.#holding(key);
    const full = Math.min(Math.floor(tokens.length / this.#options.blockTokens), holding.blocks.length);
    const paths = this.#paths(tokens, full);
    for (; holding.published < full; holding.published++)
      this.#index.add(holding.salt, paths.slice(0, holding.published + 1), holding.blocks[holding.published]!);
  }

  /** Idempotent. The end of the sequence goes first, so that beginnings stay findable the longest. */
  release(key: K): void {
    const holding = this.#holdings.get(key);
    if (holding === undefined) return;
    this.#holdings.delete(key);
    for (const block of holding.blocks.toReversed()) this.#letGo(block);
  }

  /** The memory behind the blocks is gone: nothing computed can be found any more. Who holds blocks holds void ones. */
  forgetContents(): void {
    for (const block of this.#kept) this.#index.forget(block);
    for (const { blocks } of this.#holdings.values()) for (const block of blocks) this.#index.forget(block);
    this.#blank.push(...this.#kept);
    this.#kept.clear();
  }

  /** @throws Error when a block is lost, or counted twice. */
  audit(): void {
    const counted = new Uint32Array(this.#options.blocks);
    for (const { blocks } of this.#holdings.values()) for (const block of blocks) counted[block]! += 1;
    const held = counted.filter(count => count > 0).length;
    if (held + this.available !== this.#options.blocks)
      throw new Error(`${held} held and ${this.available} free are not ${this.#options.blocks} blocks.`);
    counted.forEach((count, block) => {
      if (count !== this.#references[block])
        throw new Error(`Block ${block}: ${count} holders, counted ${this.#references[block]}.`);
    });
  }

  #fresh(): number {
    const block = this.#blank.pop() ?? this.#oldestKept();
    this.#references[block] = 1;
    return block;
  }

  #oldestKept(): number {
    const [block] = this.#kept;
    if (block === undefined) throw new Error('No block is free.');
    this.#kept.delete(block);
    this.#index.forget(block);
    return block;
  }

  #hold(block: number): void {
    this.#kept.delete(block);
    this.#references[block]! += 1;
  }

  #letGo(block: number): void {
    this.#references[block]! -= 1;
    if (this.#references[block] === 0) this.#kept.add(block);
  }

  #holding(key: K): Holding {
    const holding = this.#holdings.get(key);
    if (holding === undefined) throw new Error('This sequence holds no blocks.');
    return holding;
  }

  /** The first `count` full blocks as keys of the index. */
  #paths(tokens: readonly number[], count: number): string[] {
    const size = this.#options.blockTokens;
    return Array.from({ length: count }, (_, index) => tokens.slice(index * size, (index + 1) * size).join(','));
  }
}

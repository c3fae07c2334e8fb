import { type KvMemory, type MemoryRequest } from '@switchyard/engine-api/generation-request.js';
import { PrefixIndex } from './prefix-index.js';

export interface PagedMemoryOptions {
  readonly blocks: number;
  /** Tokens per block. */
  readonly blockTokens: number;
}

interface Holding {
  readonly salt: string;
  readonly tokens: readonly number[];
  readonly blocks: number[];
  computed: number;
  /** Full blocks of this sequence that are in the index. */
  published: number;
}

/**
 * KV memory in blocks that sequences share. Allocation is all or nothing, sequences grow
 * while they decode, equal beginnings share blocks by reference count. Blocks that no
 * sequence holds can be found until they are needed, the longest unused first.
 *
 *   held + kept + blank = blocks, always; `audit` counts after every step in tests.
 */
export class PagedMemory<K> implements KvMemory<K> {
  readonly #index = new PrefixIndex();
  readonly #holdings = new Map<K, Holding>();
  readonly #references: Uint32Array;
  /** Held by no sequence, and empty. */
  readonly #blank: number[];
  /**
   * Held by no sequence, with contents that can be found; insertion order is the
   * order of release.
   */
  readonly #kept = new Set<number>();

  constructor(private readonly options: PagedMemoryOptions) {
    this.#references = new Uint32Array(options.blocks);
    this.#blank = Array.from({ length: options.blocks }, (_, index) => options.blocks - 1 - index);
  }

  get blocks(): number {
    return this.options.blocks;
  }

  get blockTokens(): number {
    return this.options.blockTokens;
  }

  get available(): number {
    return this.#blank.length + this.#kept.size;
  }

  get capacity(): number {
    return this.blocks * this.blockTokens;
  }

  blocksFor(tokens: number): number {
    return Math.ceil(tokens / this.blockTokens);
  }

  blocksOf(key: K): readonly number[] {
    return this.#holding(key).blocks;
  }

  heldAlone(key: K): number {
    return this.#holding(key).blocks.filter(block => this.#references[block] === 1).length;
  }

  allocate(key: K, { salt, tokens, capacity }: MemoryRequest): number | undefined {
    if (this.#holdings.has(key)) throw new Error('This sequence holds blocks already.');
    const shareable = Math.floor((tokens.length - 1) / this.blockTokens);
    const shared = this.#index.match(salt, this.#paths(tokens, shareable));
    const fresh = this.blocksFor(capacity) - shared.length;
    const revived = shared.filter(block => this.#references[block] === 0).length;
    if (fresh > this.available - revived) return undefined;
    for (const block of shared) this.#hold(block);
    const blocks = [...shared, ...Array.from({ length: Math.max(0, fresh) }, () => this.#fresh())];
    const computed = shared.length * this.blockTokens;
    this.#holdings.set(key, {
      salt,
      tokens,
      blocks,
      computed,
      published: shared.length,
    });
    return computed;
  }

  grow(key: K, tokens: number): boolean {
    const { blocks } = this.#holding(key);
    const more = this.blocksFor(tokens) - blocks.length;
    if (more > this.available) return false;
    for (let taken = 0; taken < more; taken++) blocks.push(this.#fresh());
    return true;
  }

  /** Full blocks can be found by other sequences from now on. */
  computed(key: K, count: number): boolean {
    const holding = this.#holding(key);
    holding.computed = count;
    const full = Math.min(Math.floor(count / this.blockTokens), holding.blocks.length);
    if (holding.published >= full) return false;
    const paths = this.#paths(holding.tokens, full);
    for (; holding.published < full; holding.published++)
      this.#index.add(
        holding.salt,
        paths.slice(0, holding.published + 1),
        holding.blocks[holding.published]!,
      );
    return true;
  }

  intact(key: K): number {
    return this.#holding(key).computed;
  }

  /**
   * The end of the sequence is freed first, so that beginnings can be found the longest.
   */
  release(key: K): void {
    const holding = this.#holdings.get(key);
    if (holding === undefined) return;
    this.#holdings.delete(key);
    for (const block of holding.blocks.toReversed()) this.#drop(block);
  }

  forgetContents(): void {
    for (const block of this.#kept) this.#index.forget(block);
    for (const holding of this.#holdings.values()) {
      holding.computed = 0;
      for (const block of holding.blocks) this.#index.forget(block);
    }
    this.#blank.push(...this.#kept);
    this.#kept.clear();
  }

  audit(): void {
    const counted = new Uint32Array(this.blocks);
    for (const { blocks } of this.#holdings.values())
      for (const block of blocks) counted[block]! += 1;
    const held = counted.filter(count => count > 0).length;
    if (held + this.available !== this.blocks)
      throw new Error(
        `${held} held and ${this.available} free do not add up to ${this.blocks} blocks.`,
      );
    counted.forEach((count, block) => {
      if (count !== this.#references[block])
        throw new Error(`Block ${block} has ${count} holders; counted ${this.#references[block]}.`);
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

  #drop(block: number): void {
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
    const size = this.blockTokens;
    return Array.from({ length: count }, (_, index) =>
      tokens.slice(index * size, (index + 1) * size).join(','),
    );
  }
}

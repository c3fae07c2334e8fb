/** One full block of tokens behind another, of one salt. Identity is the path from the root: no hash, so no collision. */
export interface PrefixNode {
  readonly block: number;
  readonly parent: PrefixNode | PrefixRoot;
  readonly tokens: string;
  readonly children: Map<string, PrefixNode>;
}

export interface PrefixRoot {
  readonly salt: string;
  readonly children: Map<string, PrefixNode>;
}

/**
 * Which blocks hold which beginnings of prompts. Salted by model and tenant: nobody meets another tenant's content, not even
 * by the time an answer takes (LESSONS "Continuous batching").
 */
export class PrefixIndex {
  readonly #roots = new Map<string, PrefixRoot>();
  readonly #byBlock = new Map<number, PrefixNode>();

  /** Blocks that can be found. */
  get size(): number {
    return this.#byBlock.size;
  }

  /** Blocks that hold the longest known beginning of `tokens`, first to last. */
  match(salt: string, tokens: readonly string[]): number[] {
    const blocks: number[] = [];
    let at: PrefixNode | PrefixRoot | undefined = this.#roots.get(salt);
    for (const block of tokens) {
      at = at?.children.get(block);
      if (at === undefined) break;
      blocks.push(at.block);
    }
    return blocks;
  }

  /**
   * Makes `block` known as the one that follows `path`. False when that beginning is known already, or a block before it is
   * not: the block is then nobody's prefix.
   */
  add(salt: string, path: readonly string[], block: number): boolean {
    let at = this.#root(salt) as PrefixNode | PrefixRoot;
    for (const before of path.slice(0, -1)) {
      const next = at.children.get(before);
      if (next === undefined) return false;
      at = next;
    }
    const tokens = path.at(-1)!;
    if (at.children.has(tokens)) return false;
    const node = { block, parent: at, tokens, children: new Map<string, PrefixNode>() };
    at.children.set(tokens, node);
    this.#byBlock.set(block, node);
    return true;
  }

  /** Before a block is used again: it is found no more, nor is what followed it. */
  forget(block: number): void {
    const node = this.#byBlock.get(block);
    if (node === undefined) return;
    node.parent.children.delete(node.tokens);
    this.#forgetTree(node);
    if ('salt' in node.parent && node.parent.children.size === 0) this.#roots.delete(node.parent.salt);
  }

  #forgetTree(node: PrefixNode): void {
    this.#byBlock.delete(node.block);
    for (const child of node.children.values()) this.#forgetTree(child);
    node.children.clear();
  }

  #root(salt: string): PrefixRoot {
    const known = this.#roots.get(salt);
    if (known) return known;
    const root = { salt, children: new Map<string, PrefixNode>() };
    this.#roots.set(salt, root);
    return root;
  }
}

/**
 * One full block of tokens behind another, of one salt. Identity is the path from the
 * root: no hash, so no collision.
 */
interface PrefixNode {
  readonly block: number;
  readonly parent: PrefixNode | PrefixRoot;
  readonly tokens: string;
  readonly children: Map<string, PrefixNode>;
}

interface PrefixRoot {
  readonly salt: string;
  readonly children: Map<string, PrefixNode>;
}

/**
 * Maps beginnings of prompts to the blocks that hold them. Salted by model and tenant: no
 * tenant can detect another tenant's content, not even by the time that an answer takes.
 */
export class PrefixIndex {
  readonly #roots = new Map<string, PrefixRoot>();
  readonly #byBlock = new Map<number, PrefixNode>();

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
   * Registers `block` as the one at the end of `path`. False when that beginning
   * is registered already, or a block before it is not: the block is then not
   * found as a prefix.
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

  /**
   * Call before a block is reused: neither it nor what followed it can be found any more.
   */
  forget(block: number): void {
    const node = this.#byBlock.get(block);
    if (node === undefined) return;
    node.parent.children.delete(node.tokens);
    this.#forgetTree(node);
    if ('salt' in node.parent && node.parent.children.size === 0)
      this.#roots.delete(node.parent.salt);
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

type Node =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'class'; readonly ranges: readonly (readonly [number, number])[] }
  | { readonly type: 'rule'; readonly name: string }
  | { readonly type: 'either'; readonly options: readonly (readonly Node[])[] }
  | {
      readonly type: 'repeat';
      readonly of: Node;
      readonly least: number;
      readonly most: number;
    };

/**
 * Writes random texts of a grammar as `grammar-text` makes them. Deeper than `DEEP` it
 * takes the shortest way out.
 */
export class GbnfSampler {
  readonly #rules = new Map<string, Node>();
  readonly #heights = new Map<string, number>();

  /** @param random from 0 to 1 */
  constructor(
    grammar: string,
    private readonly random: () => number,
  ) {
    for (const line of grammar.split('\n')) {
      const [name, body] = [
        line.slice(0, line.indexOf(' ::= ')),
        line.slice(line.indexOf(' ::= ') + 5),
      ];
      this.#rules.set(name, new Parser(body).either());
    }
    this.#measure();
  }

  sample(): string {
    return this.#write({ type: 'rule', name: 'root' }, 0);
  }

  #write(node: Node, depth: number): string {
    switch (node.type) {
      case 'text':
        return node.text;
      case 'class': {
        const [first, last] = this.#pick(node.ranges);
        return String.fromCodePoint(first + Math.floor(this.random() * (last - first + 1)));
      }
      case 'rule':
        return this.#write(this.#rules.get(node.name)!, depth + 1);
      case 'either':
        return this.#option(node.options, depth)
          .map(one => this.#write(one, depth))
          .join('');
      case 'repeat': {
        const more =
          depth > DEEP ? 0 : Math.min(node.most - node.least, Math.floor(this.random() ** 3 * 12));
        return Array.from({ length: node.least + more }, () =>
          this.#write(node.of, depth + 1),
        ).join('');
      }
    }
  }

  #option(options: readonly (readonly Node[])[], depth: number): readonly Node[] {
    if (depth <= DEEP) return this.#pick(options);
    const lowest = Math.min(...options.map(items => this.#highest(items)));
    return options.find(items => this.#highest(items) === lowest)!;
  }

  #pick<T>(of: readonly T[]): T {
    return of[Math.floor(this.random() * of.length)]!;
  }

  #height(node: Node): number {
    switch (node.type) {
      case 'text':
      case 'class':
        return 0;
      case 'rule':
        return 1 + (this.#heights.get(node.name) ?? Infinity);
      case 'either':
        return Math.min(...node.options.map(items => this.#highest(items)));
      case 'repeat':
        return node.least === 0 ? 0 : this.#height(node.of);
    }
  }

  #highest(items: readonly Node[]): number {
    return Math.max(0, ...items.map(item => this.#height(item)));
  }

  #measure(): void {
    for (let changed = true; changed;) {
      changed = false;
      for (const [name, node] of this.#rules) {
        const height = this.#height(node);
        if (height >= (this.#heights.get(name) ?? Infinity)) continue;
        this.#heights.set(name, height);
        changed = true;
      }
    }
  }
}

const DEEP = 60;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

class Parser {
  #at = 0;

  constructor(private readonly text: string) {}

  either(): Node {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    return { type: 'either', options };
  }

  #sequence(): readonly Node[] {
    const items: Node[] = [];
    for (
      this.#space();
      this.#at < this.text.length && !'|)'.includes(this.text[this.#at]!);
      this.#space()
    )
      items.push(this.#repeated(this.#item()));
    return items;
  }

  #item(): Node {
    if (this.#take('(')) {
      const inner = this.either();
      if (!this.#take(')')) throw new Error(`) is missing in ${this.text}`);
      return inner;
    }
    if (this.#take('"')) {
      let text = '';
      while (this.text[this.#at] !== '"') text += this.#character();
      this.#at += 1;
      return { type: 'text', text };
    }
    if (this.#take('[')) return this.#class();
    const name = /[\w-]+/y;
    name.lastIndex = this.#at;
    const found = name.exec(this.text)?.[0];
    if (found === undefined) throw new Error(`what is at ${this.#at} in ${this.text}?`);
    this.#at += found.length;
    return { type: 'rule', name: found };
  }

  #class(): Node {
    const ranges: [number, number][] = [];
    while (this.text[this.#at] !== ']') {
      const first = this.#character().codePointAt(0)!;
      const isRange = this.text[this.#at] === '-' && this.text[this.#at + 1] !== ']';
      if (isRange) this.#at += 1;
      ranges.push([first, isRange ? this.#character().codePointAt(0)! : first]);
    }
    this.#at += 1;
    return { type: 'class', ranges };
  }

  #character(): string {
    const escape = /\\(?:x([\dA-F]{2})|u([\dA-F]{4})|U([\dA-F]{8})|(.))/y;
    escape.lastIndex = this.#at;
    const found = escape.exec(this.text);
    if (!found) {
      const plain = String.fromCodePoint(this.text.codePointAt(this.#at)!);
      this.#at += plain.length;
      return plain;
    }
    this.#at += found[0].length;
    const [, byte, short, long, other] = found;
    if (other !== undefined) return ESCAPES[other] ?? other;
    return String.fromCodePoint(Number.parseInt(byte ?? short ?? long!, 16));
  }

  #repeated(of: Node): Node {
    const times = /[*+?]|\{(\d+)(,(\d*))?\}/y;
    times.lastIndex = this.#at;
    const found = times.exec(this.text);
    if (!found) return of;
    this.#at += found[0].length;
    const [sign, least, comma, most] = found;
    if (sign === '*') return { type: 'repeat', of, least: 0, most: Infinity };
    if (sign === '+') return { type: 'repeat', of, least: 1, most: Infinity };
    if (sign === '?') return { type: 'repeat', of, least: 0, most: 1 };
    const upper = comma === undefined ? Number(least) : most === '' ? Infinity : Number(most);
    return { type: 'repeat', of, least: Number(least), most: upper };
  }

  #take(character: string): boolean {
    const isThere = this.text[this.#at] === character;
    if (isThere) this.#at += 1;
    return isThere;
  }

  #space(): void {
    while (this.text[this.#at] === ' ') this.#at += 1;
  }
}

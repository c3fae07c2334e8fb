import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type GrammarError, refused } from './grammar-error.js';
import { type Bounds } from './schema-fields.js';

/** One item of a sequence: what matches characters, or another rule, so many times. */
export interface GbnfItem extends Bounds {
  /** Number of the rule; absent: it matches characters by itself. */
  readonly rule?: number;
  /** Elements that llama.cpp stores of it, repetitions included. */
  readonly elements: number;
}

export interface GbnfRule {
  /** Name of the rule; a group has the name of the rule that contains it. */
  readonly name: string;
  /** Empty while the rule is named elsewhere and not defined yet. */
  alternates: readonly (readonly GbnfItem[])[];
}

/** llama.cpp's own bound; a greater upper bound it takes for none at all, silently. */
export const MOST_REPETITIONS = 2000;
const DEEPEST_GROUP = 100;

/**
 * GBNF as llama.cpp reads it. Its own parser tells no caller what is wrong, and some
 * texts it never comes to an end with: what it is given has been read here.
 */
export class GbnfReader {
  readonly rules: GbnfRule[] = [];
  readonly #numbers = new Map<string, number>();
  /** Rules that llama.cpp makes of repetitions. */
  #made = 0;
  #at = 0;
  #depth = 0;

  constructor(
    private readonly text: string,
    private readonly param: string,
  ) {}

  /** @throws GrammarError that names line and column */
  read(): this {
    const nul = this.text.indexOf('\0');
    if (nul >= 0) throw this.#wrong('this character cannot be in a grammar', nul);
    this.#skip(true);
    while (this.#at < this.text.length) this.#rule();
    const missing = this.rules.find(({ alternates }) => alternates.length === 0);
    if (missing) throw refused(this.param, `there is no rule \`${ruleNameOf(missing)}\``);
    if (!this.#numbers.has('root'))
      throw refused(this.param, 'there is no rule `root`, with which an answer begins');
    return this;
  }

  /** Rules as llama.cpp counts: those that it makes of repetitions included. */
  get symbols(): number {
    return this.rules.length + this.#made;
  }

  #rule(): void {
    const name = this.#match(/[A-Za-z\d-]+/y) ?? this.#expected('a name of a rule');
    this.#skip(false);
    if (this.#match(/::=/y) === undefined) this.#expected('`::=`');
    this.#skip(true);
    const number = this.#numberOf(name);
    this.rules[number]!.alternates = this.#alternates(name, false);
    if (this.#at < this.text.length && this.#match(/[\r\n]/y) === undefined)
      this.#expected('a literal, a class, a rule, a group, or the end of the line');
    this.#skip(true);
  }

  #alternates(name: string, isNested: boolean): (readonly GbnfItem[])[] {
    const alternates = [this.#sequence(name, isNested)];
    while (this.#take('|')) {
      this.#skip(true);
      alternates.push(this.#sequence(name, isNested));
    }
    return alternates;
  }

  #sequence(name: string, isNested: boolean): readonly GbnfItem[] {
    const items: GbnfItem[] = [];
    // Rules that come with one more repetition of the last item, as llama.cpp counts.
    let weight = 1;
    for (;;) {
      const [start, before] = [this.#at, this.symbols];
      const item = this.#terminal() ?? this.#reference() ?? this.#group(name);
      const times = item ? undefined : this.#times(isNested);
      if (times) {
        weight *= Math.max(1, times.most === Infinity ? times.least : times.most);
        items.push(this.#repeated(items.pop(), times, weight, start));
      } else if (item) {
        weight = Math.max(1, this.symbols - before);
        items.push(item);
      } else return items;
      this.#skip(isNested);
    }
  }

  #terminal(): GbnfItem | undefined {
    if (this.#take('"')) return this.#characters('"');
    if (this.#take('[')) {
      this.#take('^');
      return this.#characters(']');
    }
    if (this.#take('.')) return once(1);
    if (this.text[this.#at] === '<' || this.text[this.#at] === '!')
      throw this.#wrong('tokens cannot be named here, only characters');
    return undefined;
  }

  #characters(end: '"' | ']'): GbnfItem {
    let elements = 0;
    for (; !this.#take(end); elements++)
      if (this.#match(CHARACTER) === undefined) throw this.#noCharacter(end);
    return once(elements);
  }

  #noCharacter(end: string): GrammarError {
    if (this.#at >= this.text.length) return this.#wrong(`\`${end}\` is missing at the end`);
    return this.#wrong(
      'this escape is not known: \\\\ \\" \\[ \\] \\- \\n \\r \\t \\xFF \\uFFFF and \\UFFFFFFFF are',
    );
  }

  #reference(): GbnfItem | undefined {
    const name = this.#match(/[A-Za-z\d-]+/y);
    return name === undefined ? undefined : { ...once(1), rule: this.#numberOf(name) };
  }

  #group(name: string): GbnfItem | undefined {
    if (!this.#take('(')) return undefined;
    if (++this.#depth > DEEPEST_GROUP)
      throw this.#wrong(`groups are at most ${DEEPEST_GROUP} deep`, this.#at - 1);
    this.#skip(true);
    const rule: GbnfRule = { name, alternates: [] };
    const number = this.rules.push(rule) - 1;
    rule.alternates = this.#alternates(name, true);
    if (!this.#take(')')) this.#expected('`)`, or more of the group');
    this.#depth -= 1;
    return { ...once(1), rule: number };
  }

  #times(isNested: boolean): Bounds | undefined {
    if (this.#take('*')) return { least: 0, most: Infinity };
    if (this.#take('+')) return { least: 1, most: Infinity };
    if (this.#take('?')) return { least: 0, most: 1 };
    if (!this.#take('{')) return undefined;
    const least = this.#count(isNested) ?? this.#expected('a count');
    const isOpen = this.#take(',');
    if (isOpen) this.#skip(isNested);
    const most = isOpen ? (this.#count(isNested) ?? Infinity) : least;
    if (!this.#take('}')) this.#expected('`}`');
    return { least, most };
  }

  #count(isNested: boolean): number | undefined {
    this.#skip(isNested);
    const start = this.#at;
    const digits = this.#match(/\d+/y);
    this.#skip(isNested);
    if (digits !== undefined && Number(digits) > MOST_REPETITIONS)
      throw this.#wrong(`a count of repetitions is from 0 to ${MOST_REPETITIONS}`, start);
    return digits === undefined ? undefined : Number(digits);
  }

  #repeated(
    last: GbnfItem | undefined,
    { least, most }: Bounds,
    weight: number,
    start: number,
  ): GbnfItem {
    if (last === undefined || last.elements === 0)
      throw this.#wrong('nothing stands before this that it repeats', start);
    if (most < least) throw this.#wrong(`at least ${least} and at most ${most} cannot be`, start);
    if (weight > MOST_REPETITIONS)
      throw this.#wrong(
        `with what it repeats this comes to ${weight} rules; at most ${MOST_REPETITIONS}`,
        start,
      );
    const made = most === Infinity ? 1 : most - least;
    this.#made += made;
    const elements = least * last.elements + made * (last.elements + 3) + 1;
    return { ...this.#single(last), elements, least, most };
  }

  /** Makes a rule of its own of an item that is repeated already. */
  #single(item: GbnfItem): GbnfItem {
    if (item.least === 1 && item.most === 1) return item;
    return { ...once(1), rule: this.rules.push({ name: '', alternates: [[item]] }) - 1 };
  }

  #numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const number = this.rules.push({ name, alternates: [] }) - 1;
    this.#numbers.set(name, number);
    return number;
  }

  /** White space and comments; lines end a rule, but not inside a group. */
  #skip(overLines: boolean): void {
    this.#match(overLines ? /(?:[ \t\r\n]|#[^\r\n]*)*/y : /(?:[ \t]|#[^\r\n]*)*/y);
  }

  #take(character: string): boolean {
    if (this.text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #expected(what: string): never {
    throw this.#wrong(`${what} is expected`);
  }

  #wrong(why: string, at = this.#at): GrammarError {
    const lines = this.text.slice(0, at).split(/\r\n|\r|\n/);
    const place = `line ${lines.length}, column ${lines.at(-1)!.length + 1}`;
    const rest = this.text.slice(at, at + 20);
    return refused(this.param, `${place}, at ${rest === '' ? 'its end' : writeJson(rest)}: ${why}`);
  }
}

/** One character of a literal or a class. */
const CHARACTER = /\\(?:[trn\\"[\]-]|x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|U[\dA-Fa-f]{8})|[^\\]/uy;

const once = (elements: number): GbnfItem => ({ elements, least: 1, most: 1 });

export const ruleNameOf = ({ name }: GbnfRule): string => name.slice(0, 64);

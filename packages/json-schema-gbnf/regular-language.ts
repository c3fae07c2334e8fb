/** Code points from `first` to `last`, both included. */
export type CodeRange = readonly [first: number, last: number];

/**
 * A regular language, interned: equal ones are the same object. Derivatives of regular
 * expressions (Brzozowski 1964; Owens, Reppy, Turon 2009) make a deterministic automaton
 * of it without a search, and hold intersection and complement as well.
 */
export interface Language {
  readonly id: number;
  /** Whether it contains the empty text. */
  readonly nullable: boolean;
  readonly form: Form;
}

type Form =
  | { readonly type: 'none' | 'empty' }
  | { readonly type: 'set'; readonly set: readonly CodeRange[] }
  | { readonly type: 'sequence'; readonly first: Language; readonly rest: Language }
  | { readonly type: 'union' | 'intersection'; readonly parts: readonly Language[] }
  | { readonly type: 'complement'; readonly of: Language }
  | {
      readonly type: 'repetition';
      readonly of: Language;
      readonly least: number;
      readonly most: number;
    };

/**
 * Work on the languages of one schema. A hostile pattern has 2^20 states: it costs this
 * much and is refused.
 */
const MOST_WORK = 300_000;

/** Texts over `alphabet`. */
export class Languages {
  readonly none: Language;
  readonly empty: Language;
  readonly any: Language;
  readonly #known = new Map<string, Language>();
  /** Units of work so far, at most `MOST_WORK`. */
  #work = 0;

  /** @param refuse throws; called when more than `MOST_WORK` would be needed */
  constructor(
    readonly alphabet: readonly CodeRange[],
    private readonly refuse: () => never,
  ) {
    this.none = this.#make('none', false, { type: 'none' });
    this.empty = this.#make('empty', true, { type: 'empty' });
    this.any = this.repeated(this.set(alphabet), 0, Infinity);
  }

  /** What was done for the pattern before does not count against the next. */
  beginAnew(): void {
    this.#work = 0;
  }

  /** @param set what is not in the alphabet is left out */
  set(set: readonly CodeRange[]): Language {
    const known = intersectionOf(set, this.alphabet);
    return known.length === 0
      ? this.none
      : this.#make(`set ${known.join(';')}`, false, { type: 'set', set: known });
  }

  sequence(first: Language, rest: Language): Language {
    if (first === this.none || rest === this.none) return this.none;
    if (first === this.empty) return rest;
    if (rest === this.empty) return first;
    if (first.form.type === 'sequence')
      return this.sequence(first.form.first, this.sequence(first.form.rest, rest));
    const nullable = first.nullable && rest.nullable;
    return this.#make(`seq ${first.id} ${rest.id}`, nullable, {
      type: 'sequence',
      first,
      rest,
    });
  }

  union(given: readonly Language[]): Language {
    const parts = flatten(given, 'union').filter(part => part !== this.none);
    if (parts.includes(this.any)) return this.any;
    const sets = parts.flatMap(({ form }) => (form.type === 'set' ? [form.set] : []));
    const rest = parts.filter(({ form }) => form.type !== 'set');
    const all = sets.length > 1 ? distinct([...rest, this.set(unionOf(sets.flat()))]) : parts;
    if (all.length < 2) return all[0] ?? this.none;
    const nullable = all.some(part => part.nullable);
    return this.#make(`or ${idsOf(all)}`, nullable, { type: 'union', parts: all });
  }

  intersection(given: readonly Language[]): Language {
    const parts = flatten(given, 'intersection').filter(part => part !== this.any);
    if (parts.includes(this.none)) return this.none;
    if (parts.length < 2) return parts[0] ?? this.any;
    const nullable = parts.every(part => part.nullable);
    return this.#make(`and ${idsOf(parts)}`, nullable, { type: 'intersection', parts });
  }

  complement(of: Language): Language {
    if (of.form.type === 'complement') return of.form.of;
    if (of === this.any) return this.none;
    return of === this.none
      ? this.any
      : this.#make(`not ${of.id}`, !of.nullable, { type: 'complement', of });
  }

  /** @param most Infinity: no bound */
  repeated(of: Language, least: number, most: number): Language {
    if (most === 0 || of === this.empty) return this.empty;
    if (of === this.none) return least === 0 ? this.empty : this.none;
    if (least === 1 && most === 1) return of;
    const from = of.nullable ? 0 : least;
    const form: Form = { type: 'repetition', of, least: from, most };
    return this.#make(`rep ${of.id} ${from} ${most}`, from === 0, form);
  }

  /** The language of what may follow `code` in a text of `language`. */
  after(language: Language, code: number): Language {
    this.#count();
    const { form } = language;
    switch (form.type) {
      case 'set':
        return isIn(form.set, code) ? this.empty : this.none;
      case 'sequence': {
        const inFirst = this.sequence(this.after(form.first, code), form.rest);
        return form.first.nullable ? this.union([inFirst, this.after(form.rest, code)]) : inFirst;
      }
      case 'union':
        return this.union(form.parts.map(part => this.after(part, code)));
      case 'intersection':
        return this.intersection(form.parts.map(part => this.after(part, code)));
      case 'complement':
        return this.complement(this.after(form.of, code));
      case 'repetition':
        return this.sequence(
          this.after(form.of, code),
          this.repeated(form.of, Math.max(0, form.least - 1), form.most - 1),
        );
      default:
        return this.none;
    }
  }

  /** The alphabet in pieces: all characters of a piece have the same `after`. */
  pieces(language: Language): readonly CodeRange[] {
    const cuts = new Set<number>();
    this.#cutsOf(language, cuts);
    const ordered = [...cuts].sort((a, b) => a - b);
    return this.alphabet.flatMap(([first, last]) => {
      const inside = ordered.filter(cut => cut > first && cut <= last);
      return [first, ...inside].map((from, at): CodeRange => [from, (inside[at] ?? last + 1) - 1]);
    });
  }

  has(language: Language, text: string): boolean {
    let rest = language;
    for (const character of text) rest = this.after(rest, character.codePointAt(0)!);
    return rest.nullable;
  }

  #cutsOf({ form }: Language, cuts: Set<number>): void {
    this.#count();
    switch (form.type) {
      case 'none':
      case 'empty':
        return;
      case 'set':
        return form.set.forEach(([first, last]) => cuts.add(first).add(last + 1));
      case 'sequence':
        this.#cutsOf(form.first, cuts);
        return form.first.nullable ? this.#cutsOf(form.rest, cuts) : undefined;
      case 'union':
      case 'intersection':
        return form.parts.forEach(part => this.#cutsOf(part, cuts));
      case 'complement':
      case 'repetition':
        return this.#cutsOf(form.of, cuts);
    }
  }

  #make(key: string, nullable: boolean, form: Form): Language {
    const known = this.#known.get(key);
    if (known) return known;
    this.#count();
    const language = { id: this.#known.size, nullable, form };
    this.#known.set(key, language);
    return language;
  }

  #count(): void {
    if (++this.#work > MOST_WORK) this.refuse();
  }
}

const idsOf = (parts: readonly Language[]): string => parts.map(({ id }) => id).join(' ');

function flatten(given: readonly Language[], type: 'union' | 'intersection'): readonly Language[] {
  return distinct(given.flatMap(part => (part.form.type === type ? part.form.parts : [part])));
}

const distinct = (parts: readonly Language[]): Language[] =>
  [...new Set(parts)].sort((a, b) => a.id - b.id);

export const isIn = (set: readonly CodeRange[], code: number): boolean =>
  set.some(([first, last]) => code >= first && code <= last);

/** The code points of all ranges as ascending ranges with gaps between them. */
function unionOf(ranges: readonly CodeRange[]): readonly CodeRange[] {
  const joined: [number, number][] = [];
  for (const [first, last] of [...ranges].sort(([a], [b]) => a - b)) {
    const before = joined.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else joined.push([first, last]);
  }
  return joined;
}

export function intersectionOf(
  one: readonly CodeRange[],
  other: readonly CodeRange[],
): readonly CodeRange[] {
  return unionOf(
    one.flatMap(([first, last]) =>
      other
        .map(([from, to]): CodeRange => [Math.max(first, from), Math.min(last, to)])
        .filter(([a, b]) => a <= b),
    ),
  );
}

/** The code points outside of the ranges. */
export function complementOf(ranges: readonly CodeRange[]): readonly CodeRange[] {
  const set = unionOf(ranges);
  const starts = [0, ...set.map(([, last]) => last + 1)];
  const ends = [...set.map(([first]) => first - 1), 0x10ffff];
  return starts
    .map((start, at): CodeRange => [start, ends[at]!])
    .filter(([first, last]) => first <= last);
}

import { type CodeRange, type CodeSet, type Language, Languages, LanguageTooLarge } from './regular-language.js';
import { patternLanguage, PatternRefused } from './pattern-reader.js';
import { type GrammarRules } from './grammar-rules.js';
import { KNOWN_FORMATS } from './string-formats.js';
import { repeated } from './repetition.js';
import { type Bounds, refused } from './schema-fields.js';

/** What a text has to be, all of it at once. */
export interface StringDemands {
  readonly lengths: Bounds;
  readonly patterns: readonly { readonly text: string; readonly path: string }[];
  readonly format?: string;
  /** Of the schema, for messages. */
  readonly path: string;
}

/** Of one schema; a pattern for an address of any kind has about 50. */
const MOST_STATES = 2500;

/** Of JSON strings of one code unit each: nothing that would count twice. Control characters are those with an escape of two. */
const ALPHABET: CodeSet = [
  [0x08, 0x0a],
  [0x0c, 0x0d],
  [0x20, 0x7e],
  [0x80, 0xd7ff],
  [0xe000, 0xffff],
];

interface Edge {
  readonly set: CodeRange[];
  readonly to: Language;
}

/** The texts of one schema as grammar: deterministic, so that one place of an answer has few ways on. */
export class StringRules {
  readonly #languages = new Languages(ALPHABET);
  readonly #written = new Map<Language, string>();
  #states = 0;

  constructor(private readonly rules: GrammarRules) {}

  /** As an expression with its quotation marks. @throws DomainError at what cannot be held */
  expression(demands: StringDemands): string {
    const { lengths, patterns, format } = demands;
    if (patterns.length > 0 || format !== undefined) return `"\\"" ${this.#automaton(demands)} "\\""`;
    if (lengths.least === 0 && lengths.most === Infinity) return 'string';
    return `"\\"" ${repeated('char', lengths, this.rules.add)} "\\""`;
  }

  /** Whether `text` meets the demands. */
  allows(text: string, demands: StringDemands): boolean {
    const length = [...text].length;
    const { lengths, patterns, format } = demands;
    if (length < lengths.least || length > lengths.most) return false;
    if (patterns.length === 0 && format === undefined) return true;
    return this.#held(demands, () => this.#languages.has(this.#languageOf(demands), text));
  }

  #automaton(demands: StringDemands): string {
    return this.#held(demands, () => {
      const language = this.#languageOf(demands);
      const known = this.#written.get(language) ?? this.#write(language);
      if (known === undefined) throw refused(demands.path, 'there is no text that meets all that is asked of it');
      this.#written.set(language, known);
      return known;
    });
  }

  #held<T>({ path, patterns }: StringDemands, work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof LanguageTooLarge)) throw error;
      throw refused(
        patterns[0]?.path ?? path,
        `cannot be held: the texts of this schema need more than ${MOST_STATES} states`,
      );
    }
  }

  #languageOf({ lengths: { least, most }, patterns, format }: StringDemands): Language {
    const languages = this.#languages;
    const held = patterns.map(({ text, path }) => {
      try {
        return patternLanguage(text, languages);
      } catch (error) {
        throw error instanceof PatternRefused ? refused(path, error.message) : error;
      }
    });
    if (format !== undefined) held.push(patternLanguage(KNOWN_FORMATS[format]!, languages));
    return languages.intersection([...held, languages.repeated(languages.set(ALPHABET), least, most)]);
  }

  /** @returns the rule of the language; undefined: it has no text */
  #write(start: Language): string | undefined {
    const edges = this.#statesOf(start);
    const alive = aliveOf(edges);
    if (!alive.has(start)) return undefined;
    const names = new Map([...alive].map(state => [state, this.rules.add()] as const));
    for (const state of alive) {
      const ways = edges.get(state)!.filter(({ to }) => alive.has(to));
      const bodies = ways.flatMap(({ set, to }) => characters(set).map(one => `${one} ${names.get(to)!}`));
      this.rules.set(names.get(state)!, [...bodies, ...(state.nullable ? ['""'] : [])].join(' | '));
    }
    return names.get(start);
  }

  #statesOf(start: Language): ReadonlyMap<Language, readonly Edge[]> {
    const edges = new Map<Language, Edge[]>();
    for (const open = [start]; open.length > 0;) {
      const state = open.pop()!;
      if (edges.has(state)) continue;
      if (++this.#states > MOST_STATES) throw new LanguageTooLarge();
      const ways = new Map<Language, Edge>();
      for (const piece of this.#languages.pieces(state)) {
        const to = this.#languages.after(state, piece[0]);
        if (to === this.#languages.none) continue;
        const way = ways.get(to) ?? { set: [], to };
        way.set.push(piece);
        ways.set(to, way);
      }
      edges.set(state, [...ways.values()]);
      open.push(...ways.keys());
    }
    return edges;
  }
}

/** States from which a text can come to its end. */
function aliveOf(edges: ReadonlyMap<Language, readonly Edge[]>): ReadonlySet<Language> {
  const sources = new Map<Language, Language[]>();
  for (const [from, ways] of edges) for (const { to } of ways) sources.set(to, [...(sources.get(to) ?? []), from]);
  const alive = new Set<Language>();
  for (const open = [...edges.keys()].filter(({ nullable }) => nullable); open.length > 0;) {
    const state = open.pop()!;
    if (alive.has(state)) continue;
    alive.add(state);
    open.push(...(sources.get(state) ?? []));
  }
  return alive;
}

const ESCAPED: Readonly<Record<number, string>> = {
  ...{ 0x08: '\\\\b', 0x09: '\\\\t', 0x0a: '\\\\n', 0x0c: '\\\\f', 0x0d: '\\\\r' },
  ...{ 0x22: '\\\\\\"', 0x5c: '\\\\\\\\' },
};

/** Of a JSON string, as GBNF: a class of those that stand for themselves, a literal for each that is escaped. */
function characters(set: readonly CodeRange[]): readonly string[] {
  const isIn = (code: number): boolean => set.some(([first, last]) => code >= first && code <= last);
  const escaped = Object.keys(ESCAPED).map(Number).filter(isIn);
  const plain = set.flatMap(([first, last]) => {
    const cuts = [0x22, 0x5c].filter(cut => cut >= first && cut <= last);
    const starts = [Math.max(first, 0x20), ...cuts.map(cut => cut + 1)];
    return starts.map((start, at) => [start, (cuts[at] ?? last + 1) - 1] as const).filter(([from, to]) => from <= to);
  });
  const ranges = plain.map(([first, last]) => (first === last ? shown(first) : `${shown(first)}-${shown(last)}`));
  return [...(ranges.length > 0 ? [`[${ranges.join('')}]`] : []), ...escaped.map(code => `"${ESCAPED[code]!}"`)];
}

function shown(code: number): string {
  const character = String.fromCodePoint(code);
  return /[A-Za-z\d]/.test(character) ? character : `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

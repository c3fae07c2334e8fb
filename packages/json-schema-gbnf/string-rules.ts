import { refused } from './grammar-error.js';
import { type GrammarRules } from './grammar-rules.js';
import { patternLanguage } from './pattern-reader.js';
import {
  type CodeRange,
  complementOf,
  intersectionOf,
  isIn,
  type Language,
  Languages,
} from './regular-language.js';
import { type Bounds, boundsOf, type Schema, shown } from './schema-fields.js';
import { patternsOf } from './schema-merge.js';

const HEX = '[0-9a-f]';
const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?';
const SHORT_LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,18}[A-Za-z0-9])?';
const BYTE = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const DAY = '(0[1-9]|[12][0-9])';
const DATE = `[1-9][0-9]{3}-((0[13578]|1[02])-(${DAY}|3[01])|(0[469]|11)-(${DAY}|30)|02-(0[1-9]|1[0-9]|2[0-8]))`;
const MINUTE = '([01][0-9]|2[0-3]):[0-5][0-9]';
const TIME = `${MINUTE}:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]${MINUTE})`;
const GROUP = '[0-9a-f]{1,4}';
const IN_URI = "([A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F][0-9A-F])";
const SPAN = 'T([0-9]{1,4}H([0-9]{1,4}M([0-9]{1,4}S)?)?|[0-9]{1,4}M([0-9]{1,4}S)?|[0-9]{1,4}S)';
const DAYS = '([0-9]{1,4}Y([0-9]{1,4}M([0-9]{1,4}D)?)?|[0-9]{1,4}M([0-9]{1,4}D)?|[0-9]{1,4}D)';

/**
 * Values of `format` that can be held, as patterns: what they let through is valid, not
 * all that is valid (no 29 February).
 */
const KNOWN_FORMATS: Readonly<Record<string, string>> = {
  date: `^${DATE}$`,
  time: `^${TIME}$`,
  'date-time': `^${DATE}T${TIME}$`,
  duration: `^P([0-9]{1,4}W|${DAYS}(${SPAN})?|${SPAN})$`,
  email: `^[A-Za-z0-9_+-]{1,30}(\\.[A-Za-z0-9_+-]{1,16}){0,2}@(${LABEL}\\.)+[A-Za-z]{2,16}$`,
  hostname: `^${SHORT_LABEL}(\\.${SHORT_LABEL}){0,3}$`,
  ipv4: `^(${BYTE}\\.){3}${BYTE}$`,
  ipv6: `^((${GROUP}:){7}${GROUP}|::(${GROUP}(:${GROUP}){0,5})?|(${GROUP}:){1,3}(:${GROUP}){1,3}|(${GROUP}:){1,5}:)$`,
  uri: `^https?://(${LABEL}\\.)*${LABEL}(:[1-9][0-9]{0,3})?(/${IN_URI}*)?(\\?${IN_URI}*)?(#${IN_URI}*)?$`,
  uuid: `^${HEX}{8}-${HEX}{4}-[1-8]${HEX}{3}-[89ab]${HEX}{3}-${HEX}{12}$`,
};

/**
 * Values of `format` that say how a text is shown or what it is for, and
 * rule nothing out.
 */
const DESCRIBING_FORMATS: ReadonlySet<unknown> = new Set([
  'password',
  'binary',
  'path',
  'file-path',
  'directory-path',
  'textarea',
  'multi-line',
  'markdown',
]);

/**
 * Patterns that zod 4 writes beside a format and that let all of our texts of that format
 * through, but take too many states to hold.
 */
const IMPLIED_PATTERNS: ReadonlyMap<string, string> = new Map([
  [
    '^(?=.{1,253}\\.?$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?' +
      '(?:\\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\\.?$',
    'hostname',
  ],
]);

/**
 * What the keywords of strings ask for. @throws GrammarError at a format that
 * is not known
 */
function stringDemands(schema: Schema, path: string): StringDemands {
  const texts = schema.pattern === undefined ? [] : patternsOf(schema.pattern);
  const patterns = texts.map(text => {
    if (typeof text === 'string') return { text, path: `${path}.pattern` };
    throw refused(`${path}.pattern`, `must be a regular expression; got ${shown(text)}`);
  });
  const format = formatOf(schema, patterns.length > 0, path);
  return {
    lengths: boundsOf(schema, ['minLength', 'maxLength'], path),
    patterns:
      format === undefined
        ? patterns
        : [
            ...patterns.filter(({ text }) => IMPLIED_PATTERNS.get(text) !== format),
            { text: KNOWN_FORMATS[format]!, path },
          ],
    path,
  };
}

/**
 * Undefined: none that rules anything out. Beside a pattern, an unknown format is a name
 * for that pattern.
 */
function formatOf({ format }: Schema, hasPattern: boolean, path: string): string | undefined {
  if (format === undefined || DESCRIBING_FORMATS.has(format)) return undefined;
  if (typeof format === 'string' && Object.hasOwn(KNOWN_FORMATS, format)) return format;
  if (hasPattern && typeof format === 'string') return undefined;
  const known = Object.keys(KNOWN_FORMATS).join(', ');
  throw refused(
    `${path}.format`,
    `cannot be held; those that can are ${known}; got ${shown(format)}`,
  );
}

/** All demands of a schema on a text. */
interface StringDemands {
  readonly lengths: Bounds;
  /** Values of `pattern`, and the patterns that formats stand for. */
  readonly patterns: readonly { readonly text: string; readonly path: string }[];
  /** Path of the schema, for error messages. */
  readonly path: string;
}

/** Of one schema; a pattern for an address of any kind has about 50. */
const MOST_STATES = 2500;

/**
 * Of JSON strings of one code unit each: nothing that would count twice. Control
 * characters are those with an escape of two.
 */
const ALPHABET: readonly CodeRange[] = [
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

/**
 * The texts of one schema as grammar: deterministic, so that one place of an answer has
 * few ways on.
 */
export class StringRules {
  readonly #languages = new Languages(ALPHABET, () => this.#refuse());
  /** Names of rules by language, so that common ends of texts are written once. */
  readonly #names = new Map<Language, string>();
  #states = 0;
  /** Path of the schema that is being written, for error messages. */
  #path = '';

  /**
   * @param isJson false: characters are written as they are, not as those of
   *   a JSON string
   */
  constructor(
    private readonly rules: GrammarRules,
    private readonly isJson = true,
  ) {}

  /**
   * Texts of a pattern, without quotation marks; its bounds are its own. @throws
   * GrammarError at what cannot be held
   */
  matching(text: string, path: string): string {
    this.#states = 0;
    this.#languages.beginAnew();
    return this.#automaton({
      lengths: { least: 0, most: Infinity },
      patterns: [{ text, path }],
      path,
    });
  }

  /** The texts of a schema. @throws GrammarError at a format that is not known */
  of(schema: Schema, path: string) {
    const demands = stringDemands(schema, path);
    return {
      expression: () => this.#expression(demands),
      allows: (text: string) => this.#allows(text, demands),
    };
  }

  /**
   * As an expression with its quotation marks. @throws GrammarError at what
   * cannot be held
   */
  #expression(demands: StringDemands): string {
    const { lengths, patterns } = demands;
    if (patterns.length > 0) return `"\\"" ${this.#automaton(demands)} "\\""`;
    if (lengths.least === 0 && lengths.most === Infinity) return 'string';
    return `"\\"" ${this.rules.repeated('char', lengths)} "\\""`;
  }

  /** Whether `text` meets the demands. */
  #allows(text: string, demands: StringDemands): boolean {
    const length = [...text].length;
    const { lengths, patterns } = demands;
    if (length < lengths.least || length > lengths.most) return false;
    if (patterns.length === 0) return true;
    return this.#languages.has(this.#languageOf(demands), text);
  }

  #automaton(demands: StringDemands): string {
    const language = this.#languageOf(demands);
    if (!this.#names.has(language)) this.#write(language);
    const name = this.#names.get(language);
    if (name !== undefined) return name;
    throw refused(demands.path, 'there is no text that meets all that is asked of it');
  }

  #refuse(): never {
    throw refused(
      this.#path,
      `cannot be held: the texts of this schema need more than ${MOST_STATES} states`,
    );
  }

  #languageOf({ lengths: { least, most }, patterns, path }: StringDemands): Language {
    const languages = this.#languages;
    this.#path = patterns[0]?.path ?? path;
    return languages.intersection([
      ...patterns.map(({ text, path: at }) => patternLanguage(text, at, languages)),
      languages.repeated(languages.set(ALPHABET), least, most),
    ]);
  }

  /** Writes the rules of a language; none if it has no text. */
  #write(start: Language): void {
    const edges = this.#statesOf(start);
    const alive = this.#aliveOf(edges);
    for (const state of alive) this.#names.set(state, this.rules.add());
    for (const state of alive) {
      const bodies = edges.get(state)!.flatMap(({ set, to }) => {
        const name = this.#names.get(to);
        return name === undefined ? [] : characters(set, this.isJson).map(one => `${one} ${name}`);
      });
      this.rules.set(
        this.#names.get(state)!,
        [...bodies, ...(state.nullable ? ['""'] : [])].join(' | '),
      );
    }
  }

  #statesOf(start: Language): ReadonlyMap<Language, readonly Edge[]> {
    const edges = new Map<Language, Edge[]>();
    for (const open = [start]; open.length > 0;) {
      const state = open.pop()!;
      if (edges.has(state) || this.#names.has(state)) continue;
      if (++this.#states > MOST_STATES) this.#refuse();
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

  /** States of `edges` from which a text can come to its end. */
  #aliveOf(edges: ReadonlyMap<Language, readonly Edge[]>): ReadonlySet<Language> {
    const sources = new Map<Language, Language[]>();
    for (const [from, ways] of edges)
      for (const { to } of ways) sources.set(to, [...(sources.get(to) ?? []), from]);
    const alive = new Set<Language>();
    const open = [...edges.keys()].filter(
      state => state.nullable || edges.get(state)!.some(({ to }) => this.#names.has(to)),
    );
    while (open.length > 0) {
      const state = open.pop()!;
      if (alive.has(state)) continue;
      alive.add(state);
      open.push(...(sources.get(state) ?? []));
    }
    return alive;
  }
}

/** Characters that JSON escapes, as its escapes in a literal. */
const ESCAPED: readonly (readonly [code: number, text: string])[] = [
  [0x08, '\\\\b'],
  [0x09, '\\\\t'],
  [0x0a, '\\\\n'],
  [0x0c, '\\\\f'],
  [0x0d, '\\\\r'],
  [0x22, '\\\\\\"'],
  [0x5c, '\\\\\\\\'],
];
const UNESCAPED = complementOf(ESCAPED.map(([code]) => [code, code]));

/**
 * As GBNF: a class of those that stand for themselves, a literal for each
 * that JSON escapes.
 */
function characters(set: readonly CodeRange[], isJson: boolean): readonly string[] {
  const plain = isJson ? intersectionOf(set, UNESCAPED) : set;
  const escaped = isJson ? ESCAPED.filter(([code]) => isIn(set, code)) : [];
  return [
    ...(plain.length > 0 ? [`[${plain.map(shownRange).join('')}]`] : []),
    ...escaped.map(([, text]) => `"${text}"`),
  ];
}

const shownRange = ([first, last]: CodeRange): string =>
  first === last ? shownCode(first) : `${shownCode(first)}-${shownCode(last)}`;

function shownCode(code: number): string {
  const character = String.fromCodePoint(code);
  return /[A-Za-z\d]/.test(character)
    ? character
    : `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

import {
  type CodeRange,
  type CodeSet,
  complementOf,
  type Language,
  type Languages,
  unionOf,
} from './regular-language.js';

/** The pattern uses what no regular language holds, or what is not known here. */
export class PatternRefused extends Error {}

type Part =
  | { readonly type: 'set'; readonly set: CodeSet }
  | { readonly type: 'start' | 'end' }
  | { readonly type: 'group'; readonly options: readonly Sequence[] }
  | {
      readonly type: 'look';
      readonly isNegative: boolean;
      readonly options: readonly Sequence[];
    }
  | {
      readonly type: 'repetition';
      readonly of: Part;
      readonly least: number;
      readonly most: number;
    };
type Sequence = readonly Part[];

const MOST_CHARACTERS = 2000;
const MOST_TIMES = 1000;
const DEEPEST_GROUP = 50;

const code = (character: string): number => character.codePointAt(0)!;
const range = (first: string, last = first): CodeRange => [code(first), code(last)];

const DIGIT: CodeSet = [range('0', '9')];
const WORD: CodeSet = [range('0', '9'), range('A', 'Z'), range('_'), range('a', 'z')];
const BREAKS: CodeSet = unionOf([range('\n'), range('\r'), range('\u2028', '\u2029')]);
const SPACE: CodeSet = unionOf([
  ...BREAKS,
  ...[
    range('\t', '\r'),
    range(' '),
    range('\u00a0'),
    range('\u1680'),
    range('\u2000', '\u200a'),
  ],
  ...[range('\u202f'), range('\u205f'), range('\u3000'), range('\ufeff')],
]);
const CLASSES: Readonly<Record<string, CodeSet>> = {
  ...{ d: DIGIT, D: complementOf(DIGIT), w: WORD, W: complementOf(WORD) },
  ...{ s: SPACE, S: complementOf(SPACE) },
};
const CONTROLS: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  f: '\f',
};

/**
 * Texts in which the pattern of a JSON schema (ECMA-262, not anchored) is found.
 * Look-aheads are held where they are not repeated; look-behinds, back references, `\b`
 * and `\p` are not known. @throws PatternRefused @throws LanguageTooLarge
 */
export function patternLanguage(pattern: string, languages: Languages): Language {
  if (pattern.length > MOST_CHARACTERS)
    throw new PatternRefused(`has more than ${MOST_CHARACTERS} characters`);
  const options = new PatternReader(pattern).read();
  return new PatternCompiler(languages).found(options);
}

class PatternReader {
  #at = 0;
  #depth = 0;

  constructor(private readonly text: string) {}

  read(): readonly Sequence[] {
    const options = this.#options();
    if (this.#at < this.text.length) throw this.#wrong('`)` closes nothing');
    return options;
  }

  #options(): readonly Sequence[] {
    if (++this.#depth > DEEPEST_GROUP)
      throw this.#wrong(`groups are at most ${DEEPEST_GROUP} deep`);
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    this.#depth -= 1;
    return options;
  }

  #sequence(): Sequence {
    const parts: Part[] = [];
    while (this.#at < this.text.length && !'|)'.includes(this.text[this.#at]!))
      parts.push(this.#repetition(this.#part()));
    return parts;
  }

  #part(): Part {
    if (this.#take('^')) return { type: 'start' };
    if (this.#take('$')) return { type: 'end' };
    if (this.#take('.')) return { type: 'set', set: complementOf(BREAKS) };
    if (this.#take('[')) return { type: 'set', set: this.#class() };
    if (this.#take('(')) return this.#group();
    const character = this.#next();
    if (character === '\\') return { type: 'set', set: this.#escape() };
    if ('*+?{'.includes(character))
      throw this.#wrong(`nothing stands before \`${character}\``);
    return { type: 'set', set: [range(character)] };
  }

  #group(): Part {
    const kind = /\?(?::|=|!|<[A-Za-z_]\w*>)/y;
    kind.lastIndex = this.#at;
    const found = kind.exec(this.text)?.[0];
    if (found === undefined && this.text[this.#at] === '?')
      throw this.#wrong('this kind of group is not known');
    this.#at += found?.length ?? 0;
    const options = this.#options();
    if (!this.#take(')')) throw this.#wrong('`)` is missing');
    if (found === '?=' || found === '?!')
      return { type: 'look', isNegative: found === '?!', options };
    return { type: 'group', options };
  }

  #repetition(of: Part): Part {
    const [least, most] = this.#times() ?? [1, 1];
    // Which of the ways is tried first changes nothing here.
    if (least !== 1 || most !== 1) this.#take('?');
    if (least > MOST_TIMES || (most !== Infinity && most > MOST_TIMES) || least > most)
      throw this.#wrong(`counts are from 0 to ${MOST_TIMES}, the smaller one first`);
    return least === 1 && most === 1 ? of : { type: 'repetition', of, least, most };
  }

  #times(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Infinity];
    if (this.#take('+')) return [1, Infinity];
    if (this.#take('?')) return [0, 1];
    const counts = /\{(\d{1,9})(,(\d{0,9}))?\}/y;
    counts.lastIndex = this.#at;
    const found = counts.exec(this.text);
    if (!found) return undefined;
    this.#at += found[0].length;
    const least = Number(found[1]);
    return [
      least,
      found[2] === undefined ? least : found[3] === '' ? Infinity : Number(found[3]),
    ];
  }

  #class(): CodeSet {
    const isNegative = this.#take('^');
    const ranges: CodeRange[] = [];
    while (!this.#take(']')) {
      const first = this.#member();
      const isRange = this.text[this.#at] === '-' && this.text[this.#at + 1] !== ']';
      if (!isRange) ranges.push(...first);
      else {
        this.#at += 1;
        const last = this.#member();
        if (!isOne(first) || !isOne(last) || first[0]![0] > last[0]![0])
          throw this.#wrong('this range is empty');
        ranges.push([first[0]![0], last[0]![0]]);
      }
    }
    return isNegative ? complementOf(unionOf(ranges)) : unionOf(ranges);
  }

  #member(): CodeSet {
    const character = this.#next();
    return character === '\\' ? this.#escape() : [range(character)];
  }

  #escape(): CodeSet {
    const hex = /x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\}/y;
    hex.lastIndex = this.#at;
    const found = hex.exec(this.text);
    if (found) {
      this.#at += found[0].length;
      const point = Number.parseInt(found[1] ?? found[2] ?? found[3]!, 16);
      return [[point, point]];
    }
    const character = this.#next();
    const known = CLASSES[character];
    if (known) return known;
    const control = CONTROLS[character];
    if (control !== undefined) return [range(control)];
    if (/[\w]/.test(character)) throw this.#wrong(`\`\\${character}\` is not known`);
    return [range(character)];
  }

  #next(): string {
    if (this.#at >= this.text.length) throw this.#wrong('it ends too early');
    const character = String.fromCodePoint(this.text.codePointAt(this.#at)!);
    this.#at += character.length;
    return character;
  }

  #take(character: string): boolean {
    const isThere = this.text[this.#at] === character;
    if (isThere) this.#at += 1;
    return isThere;
  }

  #wrong(why: string): PatternRefused {
    return new PatternRefused(`cannot be held: at character ${this.#at + 1}, ${why}`);
  }
}

class PatternCompiler {
  constructor(private readonly languages: Languages) {}

  found(options: readonly Sequence[]): Language {
    const { any } = this.languages;
    return this.languages.union(
      options.map(parts =>
        parts[0]?.type === 'start'
          ? this.#sequence(parts, any, true)
          : this.languages.sequence(any, this.#sequence(parts, any, false)),
      ),
    );
  }

  /** Texts that begin with one of `options` and go on with one of `rest`. */
  #either(options: readonly Sequence[], rest: Language, isStart: boolean): Language {
    return this.languages.union(
      options.map(parts => this.#sequence(parts, rest, isStart)),
    );
  }

  #sequence(parts: Sequence, rest: Language, isStart: boolean): Language {
    const firstWide = parts.findIndex(({ type }) => type !== 'start' && type !== 'look');
    let language = rest;
    for (const [at, part] of [...parts.entries()].toReversed())
      language = this.#part(
        part,
        language,
        isStart && (firstWide < 0 || at <= firstWide),
      );
    return language;
  }

  #part(part: Part, rest: Language, isStart: boolean): Language {
    const { languages } = this;
    switch (part.type) {
      case 'set':
        return languages.sequence(languages.set(part.set), rest);
      case 'start':
        if (!isStart)
          throw new PatternRefused('cannot be held: `^` stands behind something else');
        return rest;
      case 'end':
        return rest.nullable ? languages.empty : languages.none;
      case 'group':
        if (part.options.some(hasZeroWidth))
          return this.#either(part.options, rest, isStart);
        return languages.sequence(
          this.#either(part.options, languages.empty, false),
          rest,
        );
      case 'look': {
        const ahead = this.#either(part.options, languages.any, isStart);
        return languages.intersection([
          part.isNegative ? languages.complement(ahead) : ahead,
          rest,
        ]);
      }
      case 'repetition': {
        if (hasZeroWidth([part.of])) {
          if (part.most > 1)
            throw new PatternRefused(
              'cannot be held: `^`, `$` or a look-ahead is repeated',
            );
          return languages.union([this.#part(part.of, rest, isStart), rest]);
        }
        const one = this.#part(part.of, languages.empty, false);
        return languages.sequence(languages.repeated(one, part.least, part.most), rest);
      }
    }
  }
}

/** Its meaning depends on what stands around it. */
function hasZeroWidth(parts: Sequence): boolean {
  return parts.some(part => {
    if (part.type === 'set') return false;
    if (part.type === 'repetition') return hasZeroWidth([part.of]);
    return part.type !== 'group' || part.options.some(hasZeroWidth);
  });
}

const isOne = (set: CodeSet): boolean => set.length === 1 && set[0]![0] === set[0]![1];

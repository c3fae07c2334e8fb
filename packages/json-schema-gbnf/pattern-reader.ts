import { type GrammarError, refused } from './grammar-error.js';
import { type CodeRange, complementOf, type Language, type Languages } from './regular-language.js';

/** Compiled backwards: what follows is given, so that `$` and look-aheads can ask for it. */
interface Part {
  /** Only the beginning of the text, or what is ahead: it takes no characters itself. */
  readonly kind?: 'start' | 'look';
  /** It contains an anchor or a look-ahead, so what it matches depends on the text around it. */
  readonly hasZeroWidth: boolean;
  /**
   * Texts that begin with it and go on with one of `rest`.
   * @param isStart nothing stands before it
   */
  before(rest: Language, isStart: boolean): Language;
}

const MOST_CHARACTERS = 2000;
const MOST_TIMES = 1000;
const DEEPEST_GROUP = 50;

function rangeOf(character: string): CodeRange {
  const code = character.codePointAt(0)!;
  return [code, code];
}

const EVERY_UNIT = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit)).join(
  '',
);

/** The UTF-16 code units that a part of a JavaScript pattern for one character matches. */
const rangesOf = (one: string): readonly CodeRange[] =>
  Array.from(EVERY_UNIT.matchAll(new RegExp(`${one}+`, 'g')), ({ 0: run, index }): CodeRange => [
    index,
    index + run.length - 1,
  ]);

const ANY = rangesOf('.');
const CLASSES: Readonly<Record<string, readonly CodeRange[]>> = Object.fromEntries(
  [...'dDwWsS'].map(name => [name, rangesOf(`\\${name}`)]),
);
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
 * and `\p` are not known.
 * @param path of the pattern in the request, for messages
 * @throws GrammarError at what no regular language holds, or what is not known here
 */
export function patternLanguage(pattern: string, path: string, languages: Languages): Language {
  if (pattern.length > MOST_CHARACTERS)
    throw refused(path, `has more than ${MOST_CHARACTERS} characters`);
  return new PatternReader(pattern, path, languages).language();
}

class PatternReader {
  #at = 0;
  #depth = 0;

  constructor(
    private readonly text: string,
    private readonly path: string,
    private readonly languages: Languages,
  ) {}

  language(): Language {
    const options = this.#options();
    if (this.#at < this.text.length) throw this.#wrong('`)` closes nothing');
    const { any } = this.languages;
    return this.languages.union(
      options.map(parts =>
        parts[0]?.kind === 'start'
          ? this.#sequenceBefore(parts, any, true)
          : this.languages.sequence(any, this.#sequenceBefore(parts, any, false)),
      ),
    );
  }

  #options(): readonly (readonly Part[])[] {
    if (++this.#depth > DEEPEST_GROUP)
      throw this.#wrong(`groups are at most ${DEEPEST_GROUP} deep`);
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    this.#depth -= 1;
    return options;
  }

  #sequence(): readonly Part[] {
    const parts: Part[] = [];
    while (this.#at < this.text.length && !'|)'.includes(this.text[this.#at]!))
      parts.push(this.#repetition(this.#part()));
    return parts;
  }

  #part(): Part {
    if (this.#take('^')) return this.#start();
    if (this.#take('$')) return this.#end();
    if (this.#take('.')) return this.#one(ANY);
    if (this.#take('[')) return this.#one(this.#class());
    if (this.#take('(')) return this.#group();
    const character = this.#next();
    if (character === '\\') return this.#one(this.#escape());
    if ('*+?{'.includes(character)) throw this.#wrong(`nothing stands before \`${character}\``);
    return this.#one([rangeOf(character)]);
  }

  #start(): Part {
    return {
      kind: 'start',
      hasZeroWidth: true,
      before: (rest, isStart) => {
        if (isStart) return rest;
        throw refused(this.path, 'cannot be held: `^` stands behind something else');
      },
    };
  }

  #end(): Part {
    const { empty, none } = this.languages;
    return {
      hasZeroWidth: true,
      before: rest => (rest.nullable ? empty : none),
    };
  }

  /** One character of the set. */
  #one(set: readonly CodeRange[]): Part {
    const { languages } = this;
    return {
      hasZeroWidth: false,
      before: rest => languages.sequence(languages.set(set), rest),
    };
  }

  #group(): Part {
    const kind = this.#match(/\?(?::|=|!|<[A-Za-z_]\w*>)/y)?.[0];
    if (kind === undefined && this.text[this.#at] === '?')
      throw this.#wrong('this kind of group is not known');
    const options = this.#options();
    if (!this.#take(')')) throw this.#wrong('`)` is missing');
    if (kind === '?=' || kind === '?!') return this.#look(options, kind === '?!');
    const { languages } = this;
    const hasZeroWidth = options.some(parts => parts.some(part => part.hasZeroWidth));
    return {
      hasZeroWidth,
      before: (rest, isStart) =>
        hasZeroWidth
          ? this.#eitherBefore(options, rest, isStart)
          : languages.sequence(this.#eitherBefore(options, languages.empty, false), rest),
    };
  }

  #look(options: readonly (readonly Part[])[], isNegative: boolean): Part {
    const { languages } = this;
    return {
      kind: 'look',
      hasZeroWidth: true,
      before: (rest, isStart) => {
        const ahead = this.#eitherBefore(options, languages.any, isStart);
        const wanted = isNegative ? languages.complement(ahead) : ahead;
        return languages.intersection([wanted, rest]);
      },
    };
  }

  #repetition(of: Part): Part {
    const [least, most] = this.#times() ?? [1, 1];
    if (least === 1 && most === 1) return of;
    // Which of the ways is tried first changes nothing here.
    this.#take('?');
    if (least > MOST_TIMES || (most !== Infinity && most > MOST_TIMES) || least > most)
      throw this.#wrong(`counts are from 0 to ${MOST_TIMES}, the smaller one first`);
    const { languages } = this;
    const { hasZeroWidth } = of;
    return {
      hasZeroWidth,
      before: (rest, isStart) => {
        if (!hasZeroWidth) {
          const one = of.before(languages.empty, false);
          return languages.sequence(languages.repeated(one, least, most), rest);
        }
        if (most > 1)
          throw refused(this.path, 'cannot be held: `^`, `$` or a look-ahead is repeated');
        return languages.union([of.before(rest, isStart), rest]);
      },
    };
  }

  /** Texts that begin with one of `options` and go on with one of `rest`. */
  #eitherBefore(options: readonly (readonly Part[])[], rest: Language, isStart: boolean): Language {
    return this.languages.union(options.map(parts => this.#sequenceBefore(parts, rest, isStart)));
  }

  #sequenceBefore(parts: readonly Part[], rest: Language, isStart: boolean): Language {
    const firstWide = parts.findIndex(({ kind }) => kind === undefined);
    return parts.reduceRight(
      (language, part, at) => part.before(language, isStart && (firstWide < 0 || at <= firstWide)),
      rest,
    );
  }

  #times(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Infinity];
    if (this.#take('+')) return [1, Infinity];
    if (this.#take('?')) return [0, 1];
    const found = this.#match(/\{(\d{1,9})(,(\d{0,9}))?\}/y);
    if (!found) return undefined;
    const least = Number(found[1]);
    return [least, found[2] === undefined ? least : found[3] === '' ? Infinity : Number(found[3])];
  }

  #class(): readonly CodeRange[] {
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
    return isNegative ? complementOf(ranges) : ranges;
  }

  #member(): readonly CodeRange[] {
    const character = this.#next();
    return character === '\\' ? this.#escape() : [rangeOf(character)];
  }

  #escape(): readonly CodeRange[] {
    const hex = /x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\}/y;
    const found = this.#match(hex);
    if (found) {
      const point = Number.parseInt(found[1] ?? found[2] ?? found[3]!, 16);
      return [[point, point]];
    }
    const character = this.#next();
    const known = CLASSES[character];
    if (known) return known;
    const control = CONTROLS[character];
    if (control !== undefined) return [rangeOf(control)];
    if (/[\w]/.test(character)) throw this.#wrong(`\`\\${character}\` is not known`);
    return [rangeOf(character)];
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

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text);
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #wrong(why: string): GrammarError {
    return refused(this.path, `cannot be held: at character ${this.#at + 1}, ${why}`);
  }
}

const isOne = (set: readonly CodeRange[]): boolean => set.length === 1 && set[0]![0] === set[0]![1];

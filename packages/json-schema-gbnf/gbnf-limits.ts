import { type GbnfItem, GbnfReader, type GbnfRule, ruleNameOf } from './gbnf-reader.js';
import { refused } from './grammar-error.js';

/**
 * Beyond these llama.cpp is busy with one grammar for seconds, and all requests wait: it
 * reads grammars between two steps.
 */
const MOST = {
  bytes: 500_000,
  /** Elements that llama.cpp stores of the grammar. */
  elements: 1_000_000,
  rules: 100_000,
  /**
   * Ways on at one place of an answer: each is tried with each token of the vocabulary.
   */
  ways: 1000,
  /**
   * Rules that it goes through in search of rules that begin with themselves; what
   * several share it goes through again.
   */
  visits: 1_000_000,
  /** Depth of rules that begin with another rule. */
  depth: 1000,
} as const;

/**
 * @throws GrammarError: not GBNF, or more than the engine can hold without
 *   delaying other requests.
 */
export function demandBounded(text: string, param: string): void {
  const bytes = Buffer.byteLength(text);
  demandAtMost(MOST.bytes, bytes, 'bytes of grammar', param);
  const { rules, symbols } = new GbnfReader(text, param).read();
  demandAtMost(MOST.rules, symbols, 'rules, those of repetitions included', param);
  const elements = rules
    .flatMap(({ alternates }) => alternates.flat())
    .reduce((sum, item) => sum + item.elements, 0);
  const what = 'characters and names, repeated ones included';
  demandAtMost(MOST.elements, elements, what, param);
  new GrammarWalk(rules, param).demandBounded();
}

/** How a rule, or an item of one, can begin. */
interface Beginning {
  readonly isNullable: boolean;
  /** Ways in which its first character can be read. */
  readonly ways: number;
  readonly visits: number;
}

const ONE_CHARACTER: Beginning = { isNullable: false, ways: 1, visits: 0 };

class GrammarWalk {
  readonly #known = new Map<number, Beginning>();
  /** Rules that began and whose first characters are not reached yet. */
  readonly #open = new Set<number>();

  constructor(
    private readonly rules: readonly GbnfRule[],
    private readonly param: string,
  ) {}

  demandBounded(): void {
    let visits = 0;
    this.rules.forEach((rule, number) => {
      // llama.cpp begins with each rule that it has not come by yet.
      if (!this.#known.has(number)) visits += this.#beginningOf(number).visits;
      if (visits > MOST.visits) throw this.#ambiguous(rule);
    });
    for (const rule of this.rules)
      for (const items of rule.alternates) this.#demandFew(rule, items);
  }

  #demandFew(rule: GbnfRule, items: readonly GbnfItem[]): void {
    let behind = 0;
    for (const item of items.toReversed()) {
      const { isNullable, ways } = this.#itemBeginning(item);
      behind = ways + (isNullable ? behind : 0);
      if (behind > MOST.ways) throw this.#ambiguous(rule);
    }
  }

  #beginningOf(number: number): Beginning {
    const known = this.#known.get(number);
    if (known) return known;
    const rule = this.rules[number]!;
    if (this.#open.has(number))
      throw refused(this.param, `the rule \`${ruleNameOf(rule)}\` begins with itself`);
    if (this.#open.size >= MOST.depth)
      throw refused(
        this.param,
        `more than ${MOST.depth} rules begin one with the other, up to \`${ruleNameOf(rule)}\``,
      );
    this.#open.add(number);
    const beginning = this.#eitherOf(rule);
    this.#open.delete(number);
    this.#known.set(number, beginning);
    return beginning;
  }

  #eitherOf({ alternates }: GbnfRule): Beginning {
    let [isNullable, ways, visits] = [false, 0, 1];
    for (const items of alternates) {
      const one = this.#sequenceBeginning(items);
      isNullable ||= one.isNullable;
      ways += one.ways;
      visits += one.visits;
    }
    return { isNullable, ways, visits };
  }

  #sequenceBeginning(items: readonly GbnfItem[]): Beginning {
    let [ways, visits] = [0, 0];
    for (const item of items) {
      const one = this.#itemBeginning(item);
      ways += one.ways;
      visits += one.visits;
      if (!one.isNullable) return { isNullable: false, ways, visits };
    }
    return { isNullable: true, ways, visits };
  }

  #itemBeginning({ rule, elements, least, most }: GbnfItem): Beginning {
    if (elements === 0 || most === 0) return { isNullable: true, ways: 0, visits: 0 };
    const one = rule === undefined ? ONE_CHARACTER : this.#beginningOf(rule);
    // What may be empty may be left out each time: each repetition is a place of its own.
    const times = one.isNullable ? (most === Infinity ? least + 1 : most) : 1;
    return {
      isNullable: one.isNullable || least === 0,
      ways: times * one.ways,
      visits: times * (one.visits + 1),
    };
  }

  #ambiguous(rule: GbnfRule): Error {
    const ways = `there is a place where an answer could go on in more than ${MOST.ways} ways`;
    return refused(
      this.param,
      this.param === 'grammar' ? `${ways}, in the rule \`${ruleNameOf(rule)}\`` : ways,
    );
  }
}

function demandAtMost(most: number, count: number, what: string, param: string): void {
  if (count > most) throw refused(param, `it comes to ${count} ${what}; at most ${most}`);
}

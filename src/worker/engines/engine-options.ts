import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type z } from 'zod';
import { allowedBy, FLAG, numberFrom, TEXT, wholeNumberFrom } from '../../contracts/schema/rules.js';
import { didYouMean } from '../../core/shared/nearest-name.js';

export class EngineOptionsError extends Error {
  /** @param problems each begins with the field it is about, such as `options.threads` */
  constructor(
    modelId: string,
    readonly problems: readonly string[],
  ) {
    super(`Model '${modelId}': ${problems.join('; ')}`);
    this.name = 'EngineOptionsError';
  }
}

interface NumberRule {
  readonly min: number;
  readonly max: number;
  readonly fallback: number;
}

/**
 * Reads a model's `options` once. Every problem names field, value and what is allowed; `done()` reports all of them
 * together and refuses unknown names, so that a misspelt option never passes as accepted.
 */
export class EngineOptions {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #read = new Set<string>();
  readonly #problems: string[] = [];

  constructor(private readonly spec: ModelSpec) {
    this.#values = spec.options;
  }

  integer(name: string, rule: NumberRule): number {
    return this.#checked(name, wholeNumberFrom(rule.min, rule.max), rule.fallback);
  }

  number(name: string, rule: NumberRule): number {
    return this.#checked(name, numberFrom(rule.min, rule.max), rule.fallback);
  }

  text(name: string, fallback: string): string {
    return this.#checked(name, TEXT, fallback);
  }

  flag(name: string): boolean {
    return this.#checked(name, FLAG, false);
  }

  choice<const T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const value = this.#take(name) ?? fallback;
    if (choices.some(known => known === value)) return value as T;
    this.reject(name, value, choices.join(', '));
    return fallback;
  }

  /** The raw value of an option with a shape of its own; the caller calls `reject` when it does not fit. */
  raw(name: string): unknown {
    return this.#take(name);
  }

  reject(name: string, value: unknown, allowed: string): void {
    this.#problems.push(`options.${name} is ${JSON.stringify(value)}; allowed: ${allowed}`);
  }

  done(): void {
    const known = [...this.#read].join(', ');
    for (const name of Object.keys(this.#values)) {
      if (!this.#read.has(name)) {
        const allowed = known === '' ? `the ${this.spec.engine} engine has no options` : `known options are ${known}`;
        this.#problems.push(`options.${name} is unknown${didYouMean(name, [...this.#read])}; ${allowed}`);
      }
    }
    if (this.#problems.length > 0) throw new EngineOptionsError(this.spec.id, this.#problems);
  }

  #take(name: string): unknown {
    this.#read.add(name);
    return this.#values[name];
  }

  #checked<T>(name: string, rule: z.ZodType, fallback: T): T {
    const value = this.#take(name) ?? fallback;
    if (rule.safeParse(value).success) return value as T;
    this.reject(name, value, allowedBy(rule));
    return fallback;
  }
}

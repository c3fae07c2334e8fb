import { z } from 'zod';
import { didYouMean } from './nearest-name.js';

/** The entry of a model, as its engine reads it. */
export interface EngineModel {
  readonly id: string;
  readonly kind: 'stt' | 'tts' | 'llm' | 'embedding';
  readonly engine: string;
  readonly capabilities: readonly string[];
  /** BCP-47 tags; empty: any. */
  readonly languages: readonly string[];
  /** Client voice name → engine voice id. */
  readonly voices: Readonly<Record<string, string>>;
  readonly options: Readonly<Record<string, unknown>>;
}

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
 * Reads a model's `options` once. Every problem names field, value and what is allowed;
 * `done()` reports all of them together and refuses unknown names, so that a misspelt
 * option never passes as accepted.
 */
export class EngineOptions {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #read = new Set<string>();
  readonly #problems: string[] = [];

  constructor(private readonly spec: EngineModel) {
    this.#values = spec.options;
  }

  integer(name: string, { min, max, fallback }: NumberRule): number {
    return this.#checked(
      name,
      z.int().min(min).max(max),
      `a whole number from ${min} to ${max}`,
      fallback,
    );
  }

  number(name: string, { min, max, fallback }: NumberRule): number {
    return this.#checked(
      name,
      z.number().min(min).max(max),
      `a number from ${min} to ${max}`,
      fallback,
    );
  }

  text(name: string, fallback: string): string {
    return this.#checked(name, z.string().min(1), 'text, not empty', fallback);
  }

  flag(name: string): boolean {
    return this.#checked(name, z.boolean(), 'true or false', false);
  }

  choice<const T extends string>(name: string, choices: readonly T[], fallback: T): T {
    return this.#checked(name, z.literal(choices), choices.join(', '), fallback);
  }

  /**
   * The raw value of an option with a shape of its own; the caller calls `reject` when it
   * does not fit.
   */
  raw(name: string): unknown {
    return this.#take(name);
  }

  reject(name: string, value: unknown, allowed: string): void {
    this.#problems.push(
      `options.${name} is ${JSON.stringify(value)}; allowed: ${allowed}`,
    );
  }

  done(): void {
    const known = [...this.#read].join(', ');
    for (const name of Object.keys(this.#values)) {
      if (!this.#read.has(name)) {
        const allowed =
          known === ''
            ? `the ${this.spec.engine} engine has no options`
            : `known options are ${known}`;
        this.#problems.push(
          `options.${name} is unknown${didYouMean(name, [...this.#read])}; ${allowed}`,
        );
      }
    }
    if (this.#problems.length > 0)
      throw new EngineOptionsError(this.spec.id, this.#problems);
  }

  #take(name: string): unknown {
    this.#read.add(name);
    return this.#values[name];
  }

  /**
   * @param rule also of the fallback, which may be missing from it: a required text is ''
   */
  #checked<T>(name: string, rule: z.ZodType<T>, allowed: string, fallback: T): T {
    const value = this.#take(name) ?? fallback;
    const { success, data } = rule.safeParse(value);
    if (success) return data;
    this.reject(name, value, allowed);
    return fallback;
  }
}

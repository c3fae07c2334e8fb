import { z } from 'zod';
import { writeJson } from './exact-numbers.js';
import { type Fields } from './is-object.js';
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
  readonly options: Fields;
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

/** The rule of one option. */
interface OptionRule<S extends z.ZodType> {
  readonly schema: S;
  /** The allowed values as an error message names them: `a whole number from 1 to 8`. */
  readonly allowed: string;
  /** For an option that is absent or null. It is checked too: a required text has ''. */
  readonly fallback: unknown;
}

export const optionOf = <S extends z.ZodType>(
  schema: S,
  allowed: string,
  fallback?: unknown,
): OptionRule<S> => ({ schema, allowed, fallback });

export const integerOption = (min: number, max: number, fallback?: number) =>
  optionOf(z.int().min(min).max(max), `a whole number from ${min} to ${max}`, fallback);

export const numberOption = (min: number, max: number, fallback: number) =>
  optionOf(z.number().min(min).max(max), `a number from ${min} to ${max}`, fallback);

export const textOption = (fallback: string) =>
  optionOf(z.string().min(1), 'text, not empty', fallback);

export const FLAG_OPTION = optionOf(z.boolean(), 'true or false', false);

export const choiceOption = <const T extends string>(choices: readonly T[], fallback: NoInfer<T>) =>
  optionOf(z.literal(choices), choices.join(', '), fallback);

type OptionRules = Readonly<Record<string, OptionRule<z.ZodType>>>;

/** The options of an engine, typed by the schemas of its rules. */
export type OptionsOf<R extends OptionRules> = z.output<
  z.ZodObject<{ [K in keyof R]: R[K]['schema'] }>
>;

/** Reports one more problem of an option. */
export type RejectOption = (name: string, value: unknown, allowed: string) => void;

/**
 * A model's options by their rules. Unknown names are refused, so that a misspelt option
 * never passes as accepted.
 * @param check what options are to each other; a wrong one stands there as its fallback
 * @throws EngineOptionsError all problems together
 */
export function readOptions<R extends OptionRules>(
  { id, engine, options }: EngineModel,
  rules: R,
  check: (read: OptionsOf<R>, reject: RejectOption) => void = () => undefined,
): OptionsOf<R> {
  const problems: string[] = [];
  const reject: RejectOption = (name, value, allowed) =>
    problems.push(`options.${name} is ${writeJson(value)}; allowed: ${allowed}`);
  const names = Object.keys(rules);
  const read = names.map(name => {
    const { schema, allowed, fallback } = rules[name]!;
    const value = options[name] ?? fallback;
    const { success, data } = schema.safeParse(value);
    if (!success) reject(name, value, allowed);
    return [name, success ? data : fallback] as const;
  });
  const given = read.filter(([, value]) => value !== undefined);
  const values = Object.fromEntries(given) as OptionsOf<R>;
  check(values, reject);
  const known =
    names.length === 0
      ? `the ${engine} engine has no options`
      : `known options are ${names.join(', ')}`;
  for (const name of Object.keys(options).filter(one => !names.includes(one)))
    problems.push(`options.${name} is unknown${didYouMean(name, names)}; ${known}`);
  if (problems.length > 0) throw new EngineOptionsError(id, problems);
  return values;
}

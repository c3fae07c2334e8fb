import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import { isInt, maxLength } from 'class-validator';
import { type z } from 'zod';
import { wantedLanguage } from '../formats/language-name.js';

/** Of vLLM, llama.cpp and Ollama: how text is drawn, as no model here draws it. */
const FOREIGN_FIELDS = [
  'allowed_token_ids',
  'bad_words',
  'chat_template',
  'chat_template_kwargs',
  'continue_final_message',
  'documents',
  'ignore_eos',
  'include_stop_str_in_output',
  'length_penalty',
  'min_tokens',
  'mirostat',
  'n_predict',
  'options',
  'prompt_logprobs',
  'stop_token_ids',
  'think',
  'truncate_prompt_tokens',
  'typical_p',
  'use_beam_search',
];

export const foreignFields = (rule: FieldRule): FieldRules =>
  Object.fromEntries(FOREIGN_FIELDS.map(name => [name, rule]));

/** OpenAI's `service_tier`; `fast` is a newer name of `priority`. */
export const SERVICE_TIERS = ['auto', 'default', 'flex', 'scale', 'priority', 'fast'] as const;

export type ServiceTier = (typeof SERVICE_TIERS)[number];

/** Header that names the ignored fields of an HTTP request, separated by commas. */
export const IGNORED_HEADER = 'x-switchyard-ignored';

/**
 * What a field that a model cannot honour does (D-34): it only advises, or it changes the
 * meaning.
 */
export type FieldNature = 'advice' | 'meaning';

export interface FieldRule {
  /**
   * What happens to a field (D-34):
   * - `honoured`: it acts with every model
   * - `advice`: it may make an answer better; a model that cannot use it answers without,
   *   and the answer says so
   * - `meaning`: it decides what the answer is; a model that cannot honour it refuses it
   * - `ignored`: it advises, and has no effect here: accepted and reported
   * - `refused`: it changes the meaning and cannot be honoured here
   */
  readonly treatment: 'honoured' | 'advice' | 'meaning' | 'ignored' | 'refused';
  /** What a model has to be able to do; of `advice` and `meaning`. */
  readonly capability?: string;
  /** Why it is treated so, or how far it is honoured. */
  readonly why: string;
  /** The one value that needs the capability; absent: every value but the default. */
  readonly value?: string;
  /** The engine reads it from the body; the gateway does not. */
  readonly byEngine?: true;
}

export type FieldRules = Readonly<Record<string, FieldRule>>;

/**
 * Not a capability that a model lists: the body is passed on to a server that may
 * know the field.
 */
export const PASSED_ON = 'passed on';

export const honoured = (why = ''): FieldRule => ({ treatment: 'honoured', why });

export const byEngine = (why = ''): FieldRule => ({
  treatment: 'honoured',
  why,
  byEngine: true,
});

export const advice = (capability: string, why = ''): FieldRule => ({
  treatment: 'advice',
  capability,
  why,
});

export const ignored = (why: string): FieldRule => ({ treatment: 'ignored', why });

export const notServed = (why: string): FieldRule => ({ treatment: 'refused', why });

/** @param value the one that needs the capability; absent: every value but the default */
export const meaning = (capability: string, why = '', value?: string): FieldRule => ({
  treatment: 'meaning',
  capability,
  why,
  ...(value !== undefined && { value }),
});

/** What is allowed in words, beside what decides it: `must be a number from 0 to 1`. */
type Check = readonly [accepts: (value: unknown) => boolean, message: string];

/** The type of a field: its schema, checks and conversion. */
export interface FieldType {
  /** JSON Schema of the values, as OpenAPI shows it. */
  readonly schema: Fields;
  /** Checks in order; the first that fails is reported. */
  readonly checks: readonly Check[];
  /** Converts a value before it is checked; returns unknown ones unchanged. */
  readonly shape?: (value: unknown) => unknown;
  /** The value is an object of this class. */
  readonly nested?: new () => object;
  /** Reads what the value holds, for those who do not pass it on. */
  readonly reader?: z.ZodType;
}

const STRING = { type: String };

const NUMBER = { type: Number };

/** Larger bounds protect the process, and are not documented. */
export const LARGEST_COUNT = 2_147_483_647;

const LARGEST_DOCUMENTED = 5_000_000;

const isText = (value: unknown): boolean => typeof value === 'string';

/**
 * @param schema its form in OpenAPI @param accepts sees no absent values
 *   of optional fields
 */
export const custom = (
  schema: FieldType['schema'],
  accepts: (value: unknown) => boolean,
  message: string,
): FieldType => ({ schema, checks: [[accepts, message]] });

/** Not checked but by its reader; without one, what reads it reads the body. */
export const anything = (schema: FieldType['schema'], reader?: z.ZodType): FieldType => ({
  schema,
  checks: [],
  ...(reader && { reader }),
});

export const anyText = (message = 'must be text'): FieldType => custom(STRING, isText, message);

export const filledText = (message: string): FieldType =>
  custom(STRING, value => isText(value) && value !== '', message);

/** Text of at most `most` characters. @param others what else must hold */
export const textWithin = (most: number, ...others: readonly Check[]): FieldType => ({
  schema: STRING,
  checks: [
    [value => maxLength(value, most), `must be text of at most ${most} characters`],
    ...others,
  ],
});

export const textLike = (pattern: RegExp, message: string): FieldType =>
  custom(STRING, value => isText(value) && pattern.test(value as string), message);

export const trueOrFalse = (): FieldType =>
  custom({ type: Boolean }, value => typeof value === 'boolean', 'must be true or false');

const inRange = (min: number, max: number): Check => [
  value => typeof value === 'number' && value >= min && value <= max,
  `must be a number from ${min} to ${max}`,
];

const isWhole = (message = 'must be a whole number'): Check => [isInt, message];

export const number = (minimum: number, maximum: number): FieldType => ({
  schema: { ...NUMBER, minimum, maximum },
  checks: [inRange(minimum, maximum)],
});

/** @param message error for a number that is not whole */
export const whole = (minimum: number, maximum: number, message?: string): FieldType => ({
  schema: { ...NUMBER, minimum, ...(maximum <= LARGEST_DOCUMENTED && { maximum }) },
  checks: [inRange(minimum, maximum), isWhole(message)],
});

export const anyWhole = (): FieldType => ({ schema: NUMBER, checks: [isWhole()] });

export const choiceOf = (values: readonly string[]): FieldType =>
  custom(
    { enum: values },
    value => values.includes(value as string),
    `must be one of ${values.join(', ')}`,
  );

export const listOfObjects = (message: string, reader?: z.ZodType): FieldType => ({
  ...custom({ type: 'array', items: { type: 'object' } }, Array.isArray, message),
  ...(reader && { reader }),
});

/**
 * A list of at most `count` texts of at most `length` characters. @param first checked
 * before everything else
 */
export const texts = (count: number, length: number, first: readonly Check[] = []): FieldType => ({
  schema: { type: [String] },
  checks: [
    ...first,
    [Array.isArray, 'must be a list'],
    [value => (value as unknown[]).length <= count, `must have at most ${count} entries`],
    [every(isText), 'must be a list of texts'],
    [every(value => maxLength(value, length)), `must have entries of at most ${length} characters`],
  ],
});

/** A check of a value, or of every entry of a list. */
export const every =
  (accepts: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) ? value.every(accepts) : accepts(value);

/** A field of a form that may be repeated, each time with one of `values`. */
export const repeatedOneOf = (values: readonly string[]): FieldType => {
  const { schema, checks } = choiceOf(values);
  return {
    schema: { ...schema, isArray: true },
    shape: listed,
    checks: checks.map(([of, said]) => [every(of), said]),
  };
};

/** `TextList` of a form: repeated, or given once. */
export const repeatedTexts = (
  count: number,
  length: number,
  first: readonly Check[] = [],
): FieldType => ({
  schema: { isArray: true, type: String, maxItems: count },
  checks: texts(count, length, first).checks,
  shape: listed,
});

const listed = (value: unknown): unknown => (Array.isArray(value) ? value : [value]);

/**
 * Repeated texts, comma-separated texts, or both; trimmed, without empty
 * and duplicate entries.
 */
export const commaSeparated = (count: number, length: number): FieldType => ({
  ...repeatedTexts(count, length),
  shape: separated,
});

function separated(value: unknown): unknown {
  const given = listed(value) as readonly unknown[];
  if (!given.every(isText)) return value;
  const entries = (given as readonly string[])
    .flatMap(entry => entry.split(','))
    .map(entry => entry.trim());
  return [...new Set(entries.filter(entry => entry !== ''))];
}

const TAG = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;

const isTag = (value: unknown): boolean => isText(value) && TAG.test(value as string);

const AS_TAG = 'must be a BCP-47 tag such as en or pt-BR';

/** `auto` is absent; an English name of a language is its tag. */
export const language = (): FieldType => ({
  ...custom(STRING, isTag, AS_TAG),
  // Locales of POSIX have an underscore: `en_GB`.
  shape: value => (isText(value) ? wantedLanguage((value as string).replace('_', '-')) : value),
});

export const languages = (most: number): FieldType =>
  repeatedTexts(most, 35, [[every(isTag), AS_TAG]]);

/**
 * Decimal. An exponent is for small fractions only, which Python writes that way; `1e3`
 * is no count.
 */
const DECIMAL = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e-\d+)?\s*$/i;

const numberIn = (value: unknown): unknown =>
  isText(value) && DECIMAL.test(value as string) ? Number(value) : value;

/** `True` is how Python writes it. */
function flagIn(value: unknown): unknown {
  const text = isText(value) ? (value as string).toLowerCase() : value;
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : value;
}

/**
 * Forms and queries carry text only: `"0.2"` → 0.2, `"1"` → true. What is no number or
 * flag stays text, which is then refused.
 */
export const fromForm = (type: FieldType): FieldType => ({
  ...type,
  shape: type.schema.type === Boolean ? flagIn : numberIn,
});

/** An object of its own fields. @param form such as {anchor, seconds} */
export const nested = (type: new () => object, form: string): FieldType => ({
  ...custom({ type }, isObject, `must be ${form}`),
  nested: type,
});

/** OpenAI's bounds of `metadata`. */
export const labels = (): FieldType =>
  custom(
    { type: 'object', additionalProperties: { type: 'string' } },
    areLabels,
    'must map at most 16 keys of at most 64 characters to texts of at most 512',
  );

function areLabels(value: unknown): boolean {
  if (!isObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= 16 &&
    entries.every(
      ([name, label]) => name.length <= 64 && typeof label === 'string' && label.length <= 512,
    )
  );
}

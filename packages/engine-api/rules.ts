import { z } from 'zod';
import { type Fields, isObject } from './is-object.js';
import { didYouMean } from './nearest-name.js';

/**
 * Parts of zod schemas for untrusted objects. A schema's description is what it allows
 * as a noun phrase (`a number from 0 to 2`), and the message of its issues is `must be`
 * and that phrase.
 */

/** A schema that says what it allows. @param json for editors, where zod cannot tell */
export function rule<S extends z.ZodType>(
  allowed: string,
  make: (error: string) => S,
  json: Fields = {},
): S {
  return make(`must be ${allowed}`).meta({ ...json, description: allowed });
}

/** What a schema allows, as a noun phrase. */
export const allowedBy = ({ description = '' }: z.ZodType): string => description;

export const ANYTHING = z.unknown();

export const TEXT = rule('text, not empty', error => z.string(error).min(1, error));

export const FLAG = rule('true or false', error => z.boolean(error));

export const numberFrom = (min: number, max: number) =>
  rule(`a number from ${min} to ${max}`, error => z.number(error).min(min, error).max(max, error));

/** @param unit such as `ms` */
export const wholeNumberFrom = (min: number, max: number, unit = '') =>
  rule(`a whole number from ${min} to ${max}${unit && ` ${unit}`}`, error =>
    z.int(error).min(min, { error, abort: true }).max(max, { error, abort: true }),
  );

/** Text of a form that `allowed` describes. */
export const matching = (pattern: RegExp, allowed: string) =>
  rule(allowed, error => z.string(error).regex(pattern, error));

/** @param removed words of earlier releases, each with what to write instead */
export const oneOf = <const V extends string | number>(
  choices: readonly V[],
  removed: Readonly<Record<string, string>> = {},
) =>
  rule(`one of ${choices.join(', ')}`, error =>
    z.literal(choices, { error: ({ input }) => removed[String(input)] ?? error }),
  );

/** @param items what the items are, in the plural */
export const listOf = <S extends z.ZodType>(item: S, items: string, least = 0) =>
  rule(`a list of ${least > 0 ? `${least} or more ` : ''}${items}`, error => {
    const list = z.array(item, {
      error: ({ input }) => error + nearestChoice(input, item),
    });
    return least > 0 ? list.min(least, error) : list;
  });

/** The closest match for a single word that was given where a list of such words is required. */
const nearestChoice = (word: unknown, item: z.ZodType) =>
  typeof word === 'string' && item instanceof z.ZodLiteral
    ? didYouMean(word, [...item.values].map(String))
    : '';

/** A text from a client or a job, which may be empty. */
export const textUpTo = (most: number) =>
  z.string('must be a string').max(most, `must have at most ${most} characters`);

export const ANY_TEXT = z.string('must be a string');

/** The error message for an empty text where one is required. */
export const REQUIRED = 'is required';

/** A text from a client that must not be empty. */
export const filled = (most = Infinity) => textUpTo(most).min(1, REQUIRED);

/** A text, or a value that `schema` reads; the problems reported are those of the schema. */
export const textOr = <S extends z.ZodType>(schema: S) =>
  z.unknown().transform((value, { issues }): string | z.output<S> => {
    if (typeof value === 'string') return value;
    const { data, error } = schema.safeParse(value);
    for (const issue of error?.issues ?? [])
      issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
    return data!;
  });

/** A list of objects from a client or a job. */
export function objectsUpTo<S extends z.ZodType>(most: number, item: S) {
  const error = `must be a list of at most ${most} objects`;
  return z.array(item, error).max(most, error);
}

/** A value that a function checks. */
export const checked = <T>(accepts: (value: unknown) => boolean, allowed: string, json?: Fields) =>
  rule(allowed, error => z.custom<T>(accepts, { error, abort: false }), json);

/** An object whose names are not fixed. Its problems are told of it as a whole. */
export const mapOf = <S extends z.ZodType>(
  item: S,
  allowed: string,
  name: z.ZodType<string> = TEXT,
) => {
  const map = z.partialRecord(name, item);
  return checked<Readonly<Record<string, z.output<S>>>>(
    value => map.safeParse(value).success,
    allowed,
    {
      type: 'object',
      additionalProperties: jsonSchema(item),
      propertyNames: jsonSchema(name),
    },
  );
};

/** Absent and `null` are the same. */
export const optional = <S extends z.ZodType>(schema: S): z.ZodOptional<S> =>
  schema
    .nullish()
    .transform(value => value ?? undefined)
    .describe(allowedBy(schema)) as unknown as z.ZodOptional<S>;

/** Absent and `null` stand for `fallback`. */
export const defaulted = <S extends z.ZodType>(schema: S, fallback: z.output<S>) =>
  schema.nullish().transform(value => value ?? fallback);

/** Absent and `null` are `null`. */
export const orNull = <S extends z.ZodType>(schema: S) => defaulted(schema.nullable(), null);

/** A fixed value, whatever the input has. */
export const always = <const V>(value: V) =>
  z
    .unknown()
    .optional()
    .transform(() => value);

/** Any object, as it is. */
export const OBJECT = z.custom<Fields>(isObject, 'must be an object');

/** A field that cannot act here: it is refused unless it asks for nothing. */
export const unserved = (why: string) =>
  z
    .unknown()
    .optional()
    .refine(asksForNothing, { params: { why } })
    .transform(() => undefined);

export const asksForNothing = (value: unknown): boolean =>
  value == null || value === '' || value === false || (Array.isArray(value) && value.length === 0);

/** An object without other fields; the issue of others names those that it may have. */
export function objectOf<F extends z.ZodRawShape>(fields: F, allowed = 'an object') {
  const names = Object.keys(fields).join(', ');
  return rule(allowed, error =>
    z.strictObject(fields, {
      error: ({ code }) => (code === 'unrecognized_keys' ? names : error),
    }),
  );
}

/**
 * For editors: JSON Schema, draft 7. Fields of objects are described by what they allow.
 */
export function jsonSchema(schema: z.ZodType): Fields {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema: made, path }) => {
      const [first, none] = made.anyOf ?? [];
      const written = tidied(
        first && none?.type === 'null' ? first : made,
        path.at(-2) === 'properties',
      );
      for (const name of Object.keys(made)) delete made[name];
      Object.assign(made, written);
    },
  });
  return json;
}

/**
 * As the committed files have it: in this order, words without their type, no other
 * fields in objects.
 */
function tidied(
  { description, type, items, properties, required, ...rest }: Fields,
  isField: boolean,
): Fields {
  const choices = rest.enum ?? (rest.const !== undefined && [rest.const]);
  if (choices) return { ...(isField && { description }), enum: choices };
  return {
    ...(isField && { description }),
    ...(type !== undefined && { type }),
    ...(items !== undefined && { items: tidied(items as Fields, false) }),
    ...(properties !== undefined && { properties, required: required ?? [] }),
    ...rest,
  };
}

import { type Type } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiProperty,
  type ApiPropertyOptions,
  getSchemaPath,
} from '@nestjs/swagger';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type Page } from '../../../core/jobs/job.ports.js';

/**
 * One field of an answer: what the OpenAPI document says of it and, in its type,
 * what it holds.
 */
interface ViewField<T> {
  readonly options: ApiPropertyOptions;
  /** Classes of other answers that `options` refer to. */
  readonly models?: readonly Type[];
  /** Never set: it only gives TypeScript the type of the field. */
  readonly holds?: T;
}

interface OptionalViewField<T> extends ViewField<T> {
  readonly absent: true;
}

type Plain = StringConstructor | NumberConstructor | BooleanConstructor;
/** A field without a description, and one that is an answer of its own, are named by their class. */
type Entry = ViewField<unknown> | Plain | Type;
type Fields = Readonly<Record<string, Entry>>;
type Held<E> = E extends Plain
  ? ReturnType<E>
  : E extends Type<infer T>
    ? T
    : E extends ViewField<infer T>
      ? T
      : never;
type OptionalName<F extends Fields> = {
  [Name in keyof F]: F[Name] extends OptionalViewField<unknown> ? Name : never;
}[keyof F];
type Answer<F extends Fields> = {
  readonly [Name in Exclude<keyof F, OptionalName<F>>]: Held<F[Name]>;
} & { readonly [Name in OptionalName<F>]?: Held<F[Name]> };

/** A description, or more than that. */
type Described = string | ApiPropertyOptions;

/**
 * What a class of answers extends: `class StatusSlotsDto extends answer({ free: Number }) {}`.
 * Its fields are the schema of the OpenAPI document, which has the name of the class; its
 * instances are what handlers return.
 */
export function answer<F extends Fields>(fields: F): Type<Answer<F>>;
/** An answer with the fields of another answer before its own. */
export function answer<F extends Fields, V extends object>(
  fields: F,
  base: Type<V>,
): Type<V & Answer<F>>;
export function answer(fields: Fields, base: Type = class {}): Type {
  const type = class extends base {};
  for (const [field, entry] of Object.entries(fields)) {
    const { options, models = [] } = described(entry);
    ApiProperty(options)(type.prototype, field);
    ApiExtraModels(...models)(type);
  }
  return type;
}

const isClass = (entry: Entry): entry is Plain | Type => typeof entry === 'function';

const described = (entry: Entry): ViewField<unknown> => (isClass(entry) ? withType(entry) : entry);

const said = (described: Described = {}): ApiPropertyOptions =>
  typeof described === 'string' ? { description: described } : described;

const withType = (type: unknown, described?: Described) => ({
  options: { type, ...said(described) } as ApiPropertyOptions,
});

export const textField = (described?: Described): ViewField<string> => withType(String, described);

export const numberField = (described?: Described): ViewField<number> =>
  withType(Number, described);

export const flagField = (described?: Described): ViewField<boolean> =>
  withType(Boolean, described);

/** Anything that is JSON. */
export const anyField = <T = unknown>(described?: Described): ViewField<T> =>
  withType(Object, described);

/** A field that holds another answer, with a description. */
export const fieldOf = <T>(type: Type<T>, described?: Described): ViewField<T> =>
  withType(type, described);

export const choiceField = <const V extends string>(
  values: readonly V[],
  described?: Described,
): ViewField<V> => ({
  options: { enum: [...values], ...said(described) },
});

/** A field that says what the answer is: `"object": "list"`. */
export const constantField = (value: string): ViewField<string> => choiceField([value]);

/** Times of answers are whole seconds. */
export const unixSeconds = (ms: number): number => Math.floor(ms / 1000);

export const secondsOrNull = (ms: number | undefined): number | null =>
  ms === undefined ? null : unixSeconds(ms);

/** The same as OpenAI's document has it: not as the only choice, but as an example. */
export const objectField = (value: string): ViewField<string> => textField({ example: value });

export const listField = <E extends Entry>(
  entry: E,
  described?: Described,
): ViewField<readonly Held<E>[]> => {
  const options = isClass(entry) ? { type: [entry] } : { ...entry.options, isArray: true };
  return { options: { ...options, ...said(described) } as ApiPropertyOptions };
};

/** Values by names that are data. */
export const mapField = <T>(
  type: Type<T>,
  description: string,
): ViewField<Readonly<Record<string, T>>> => ({
  options: {
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(type) },
    description,
  },
  models: [type],
});

export const nullableField = <E extends Entry>(entry: E): ViewField<Held<E> | null> => ({
  options: { ...described(entry).options, nullable: true },
});

export const optionalField = <E extends Entry>(entry: E): OptionalViewField<Held<E>> => ({
  options: { ...described(entry).options, required: false } as ApiPropertyOptions,
  absent: true,
});

/** The answer of a list: `{"object": "list", "data": […]}`. */
export const listAnswer = <E extends Type>(entry: E, described?: Described) =>
  answer({ object: constantField('list'), data: listField(entry, described) });

/** The same of a part of a list, with whether there is more. */
export const partialListAnswer = <E extends Type>(entry: E, described?: Described) =>
  answer({ has_more: Boolean }, listAnswer(entry, described));

/** OpenAI's page of a list; SDKs pass `last_id` as the next `after`. */
export const openAiPageAnswer = <E extends Type>(entry: E) =>
  answer({
    object: objectField('list'),
    data: listField(entry),
    first_id: nullableField(String),
    last_id: nullableField(String),
    has_more: Boolean,
  });

/** The page itself. @throws DomainError for an unknown `after` */
export function pageView<T, V extends { readonly id: string }>(
  page: Page<T> | undefined,
  shown: (entry: T) => V,
) {
  if (!page) throw invalidField('after', '`after` must be the id of an entry of this list.');
  const data = page.data.map(shown);
  return {
    object: 'list',
    data,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: page.hasMore,
  };
}

/** OpenAI's answer to a deletion. */
export class DeletionDto extends answer({
  id: String,
  object: textField({ example: 'file', description: 'What was deleted.' }),
  deleted: flagField({ example: true }),
}) {}

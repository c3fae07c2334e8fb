import { ApiProperty } from '@nestjs/swagger';
import {
  choiceOf,
  type FieldType,
  filledText,
  fromForm,
  anyText,
  whole,
  type FieldRule,
  type FieldRules,
  honoured,
  SERVICE_TIERS,
} from './field-types.js';

/** What OpenAPI says of a field beside its type, and what happens to it. */
interface FieldOptions {
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  /** Default: that of the property. */
  readonly name?: string;
  /** Default: `honoured`. */
  readonly rule?: FieldRule;
  /** Other words of OpenAPI, which win over those of the type. */
  readonly [word: string]: unknown;
}

/** A field whose values are checked. */
interface CheckedField {
  readonly type: FieldType;
  readonly required: boolean;
}

/** Of one class, without those that it extends. */
interface DeclaredFields {
  readonly checked: Map<string, CheckedField>;
  readonly rules: Map<string, FieldRule>;
}

/** By prototype. */
const DECLARED = new WeakMap<object, DeclaredFields>();

function declaredOn(prototype: object): DeclaredFields {
  const declared = DECLARED.get(prototype) ?? { checked: new Map(), rules: new Map() };
  DECLARED.set(prototype, declared);
  return declared;
}

/** What is declared of a class and of those that it extends, from the first of these on. */
function declaredOf({ prototype }: NewableFunction): DeclaredFields[] {
  const all: DeclaredFields[] = [];
  for (
    let one = prototype as object | null;
    one;
    one = Object.getPrototypeOf(one) as object | null
  )
    all.unshift(declaredOn(one));
  return all;
}

/**
 * A field of a request, described once: its check, its text in OpenAPI, and what
 * happens to it. It may be left out: then it is undefined, or has the value that the
 * class gives it.
 */
export const Field = (type: FieldType, options: FieldOptions = {}): PropertyDecorator =>
  described(type, options, false);

/** The same, of a field that must be given. */
export const RequiredField = (
  type: FieldType,
  options: FieldOptions = {},
): PropertyDecorator => described(type, options, true);

function described(
  type: FieldType,
  options: FieldOptions,
  required: boolean,
): PropertyDecorator {
  const { rule = honoured(), ...words } = options;
  return (target, key) => {
    ApiProperty({ ...type.schema, required, ...words })(target, key);
    Unlisted(rule)(target, key);
    if (type.checks.length > 0)
      declaredOn(target).checked.set(String(key), { type, required });
  };
}

/** A field that OpenAPI does not list and nothing here checks. */
export const Unlisted =
  (rule: FieldRule): PropertyDecorator =>
  (target, key) =>
    void declaredOn(target).rules.set(String(key), rule);

/** Fields without a property: the body is passed on with them. */
export const PassesOn =
  (rules: FieldRules): ClassDecorator =>
  type => {
    for (const [name, rule] of Object.entries(rules))
      declaredOn(type.prototype as object).rules.set(name, rule);
  };

/** What happens to each field of a class, those of the class that it extends first. */
export const rulesOf = (...types: readonly NewableFunction[]): FieldRules =>
  Object.fromEntries(types.flatMap(declaredOf).flatMap(({ rules }) => [...rules]));

/** Its own, in the order in which they are checked, then those of the classes that it extends. */
export function checkedFields(type: NewableFunction): ReadonlyMap<string, CheckedField> {
  const extended = declaredOf(type);
  const own = extended.pop()!.checked;
  const inherited = extended.flatMap(({ checked }) => [...checked]);
  return new Map([...own, ...inherited, ...own]);
}

/** `model` of every request. */
export const ModelNameField = (
  example: string,
  description = 'A model id or alias; see `GET /v1/models`.',
) => RequiredField(filledText('must be the name of a model'), { example, description });

export const TIERS =
  '`priority` and `fast` are queued as REALTIME, the rest as BATCH. The `X-Priority` header wins over it.';

/** `service_tier` of every request that queues work. */
export const ServiceTierField = (description = TIERS): PropertyDecorator =>
  Field(choiceOf(SERVICE_TIERS), {
    default: 'auto',
    description,
    rule: honoured('Priority; the `X-Priority` header wins.'),
  });

/** `limit` of a list: the entries of one page. */
export const PageLimit = (maximum: number, usual: number): PropertyDecorator => {
  const { checks, ...type } = fromForm(whole(1, maximum));
  return Field(
    { ...type, checks: [...checks].reverse() },
    { type: undefined, default: usual },
  );
};

/** `after` of a list. @param entry what the list holds, in the singular */
export const PageAfter = (entry: string): PropertyDecorator =>
  Field(anyText('must be the id of an entry'), {
    description: `Id of the last ${entry} of the page before.`,
  });

/** `order` of a list, by time. */
export const PageOrder = (): PropertyDecorator =>
  Field(choiceOf(['asc', 'desc']), { default: 'desc' });

import { getMetadataStorage, ValidationTypes } from 'class-validator';

type Metadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];
/** Whether one rule accepts the value of its property. */
type Rule = (dto: object, value: unknown) => boolean;

interface Property {
  readonly name: string;
  /** It is not checked unless all of these hold. */
  readonly conditions: readonly Rule[];
  readonly rules: readonly Rule[];
}

/** What is declared of a class. */
interface DtoForm {
  /** Of its fields, with rules or without. */
  readonly names: readonly string[];
  readonly properties: readonly Property[];
}

/** By class. */
const FORMS = new WeakMap<object, DtoForm>();

/** class-validator looks rules up and groups them anew for each object. */
export function formOf(type: NewableFunction): DtoForm {
  const known = FORMS.get(type);
  if (known) return known;
  const storage = getMetadataStorage();
  const rules = storage.getTargetValidationMetadatas(type, '', false, false);
  const properties = Object.entries(storage.groupByPropertyName(rules)).map(
    ([name, metadata]): Property => {
      const conditions = metadata
        .filter(isCondition)
        .map(({ constraints }) => constraints[0] as Rule);
      const others = metadata.filter(one => !isCondition(one));
      return { name, conditions, rules: others.map(ruleOf) };
    },
  );
  const named = properties.map(({ name }) => name);
  const defaults = Object.keys(new (type as unknown as new () => object)());
  const form = { names: [...new Set([...named, ...defaults])], properties };
  FORMS.set(type, form);
  return form;
}

/**
 * Whether class-validator accepts the DTO. `validateSync` costs more than the rules
 * themselves; it is needed only to name what is wrong.
 * @returns false also for what only `validateSync` can judge: lists of nested DTOs and
 *   rules that answer later
 */
export function isAccepted(dto: object): boolean {
  for (const { name, conditions, rules } of formOf(dto.constructor).properties) {
    const value = (dto as Record<string, unknown>)[name];
    if (allHold(conditions, dto, value) && !allHold(rules, dto, value)) return false;
  }
  return true;
}

function allHold(rules: readonly Rule[], dto: object, value: unknown): boolean {
  for (const rule of rules) if (!rule(dto, value)) return false;
  return true;
}

const isCondition = ({ type }: Metadata): boolean =>
  type === ValidationTypes.CONDITIONAL_VALIDATION;

function ruleOf(metadata: Metadata): Rule {
  if (metadata.type === ValidationTypes.WHITELIST) return () => true;
  if (metadata.type === ValidationTypes.NESTED_VALIDATION) return isAcceptedInside;
  const { constraintCls, constraints, propertyName: property } = metadata;
  const { each, validateIf } = metadata;
  const own = getMetadataStorage().getTargetValidatorConstraints(constraintCls);
  if (own.length === 0 || own.some(rule => rule.async)) return () => false;
  const base = { property, constraints };
  return (object, value) => {
    if (validateIf && !validateIf(object, value)) return true;
    const details = { ...base, targetName: object.constructor.name, object, value };
    const items: readonly unknown[] = each && Array.isArray(value) ? value : [value];
    for (const item of items)
      for (const { instance } of own)
        if (instance.validate(item, details) !== true) return false;
    return true;
  };
}

const isAcceptedInside: Rule = (_dto, value) =>
  value === undefined ||
  (value instanceof Object && !Array.isArray(value) && isAccepted(value));

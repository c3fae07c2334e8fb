import { getMetadataStorage, ValidationTypes } from 'class-validator';

type Check = (value: object) => boolean;
type Metadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];
/** Whether one rule accepts the value of its property. */
type Rule = (dto: object, value: unknown) => boolean;

/** By class. */
const CHECKS = new WeakMap<object, Check>();

/**
 * Whether class-validator accepts the DTO: its own rules, looked up once per class.
 * `validateSync` looks them up and groups them anew for each object, which costs more
 * than the rules themselves; it is needed only to name what is wrong.
 * @returns false also for what only `validateSync` can judge: lists of nested DTOs and
 *   rules that answer later
 */
export const isAccepted = (dto: object): boolean => checkOf(dto.constructor)(dto);

function checkOf(type: NewableFunction): Check {
  const known = CHECKS.get(type);
  if (known) return known;
  const storage = getMetadataStorage();
  const rules = storage.getTargetValidationMetadatas(type, '', false, false);
  const checks = Object.entries(storage.groupByPropertyName(rules)).map(([name, all]) =>
    propertyCheck(name, all),
  );
  const check: Check = dto => checks.every(accepts => accepts(dto));
  CHECKS.set(type, check);
  return check;
}

function propertyCheck(name: string, metadata: readonly Metadata[]): Check {
  const conditions = metadata.filter(
    ({ type }) => type === ValidationTypes.CONDITIONAL_VALIDATION,
  );
  const rules = metadata
    .filter(({ type }) => type !== ValidationTypes.CONDITIONAL_VALIDATION)
    .map(ruleOf);
  return dto => {
    const value = (dto as Record<string, unknown>)[name];
    if (!conditions.every(({ constraints }) => (constraints[0] as Rule)(dto, value)))
      return true;
    return rules.every(accepts => accepts(dto, value));
  };
}

function ruleOf(metadata: Metadata): Rule {
  if (metadata.type === ValidationTypes.WHITELIST) return () => true;
  if (metadata.type === ValidationTypes.NESTED_VALIDATION) return isAcceptedInside;
  const {
    constraintCls,
    constraints,
    propertyName: property,
    each,
    validateIf,
  } = metadata;
  const own = getMetadataStorage().getTargetValidatorConstraints(constraintCls);
  if (own.length === 0 || own.some(rule => rule.async)) return () => false;
  return (object, value) => {
    if (validateIf && !validateIf(object, value)) return true;
    const details = {
      targetName: object.constructor.name,
      property,
      object,
      value,
      constraints,
    };
    const accepts = (item: unknown): boolean =>
      own.every(rule => rule.instance.validate(item, details) === true);
    return each && Array.isArray(value) ? value.every(accepts) : accepts(value);
  };
}

const isAcceptedInside: Rule = (_dto, value) =>
  value === undefined ||
  (value instanceof Object && !Array.isArray(value) && isAccepted(value));

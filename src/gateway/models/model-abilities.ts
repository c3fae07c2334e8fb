import { DomainError } from '../../core/errors/domain-error.js';
import { type FieldNature, PASSED_ON } from '../../contracts/openai/field-types.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type Settings } from '../../platform/config/settings.js';
import { canHonour, type ModelCatalog } from './model-catalog.js';

/** A field that only some models can honour, as it was given. */
interface AbilityDemand {
  readonly param: string;
  /**
   * What cannot be honoured, where that is one value of the field; default: the field.
   */
  readonly shown?: string;
  readonly capability: string;
  /** False when the value is the default, which every model honours by doing nothing. */
  readonly wanted: boolean;
  /** Default: meaning. */
  readonly nature?: FieldNature;
}

/** `compat.strict`: advice that cannot be used is refused, too. */
export type Strictness = Pick<Settings['compat'], 'strict'>;

export type Body = Readonly<Record<string, unknown>>;

interface RestrictedField extends Omit<AbilityDemand, 'wanted' | 'shown'> {
  /** The one value that needs the capability. */
  readonly value?: string | undefined;
  /** What the field has when it is not given. */
  readonly usual: unknown;
}

/** By class. */
const RESTRICTED = new WeakMap<NewableFunction, readonly RestrictedField[]>();

function restrictedFieldsOf(type: NewableFunction): readonly RestrictedField[] {
  const known = RESTRICTED.get(type);
  if (known) return known;
  const usual = new (type as new () => Body)();
  const found = Object.entries(rulesOf(type)).flatMap(
    ([param, { treatment: nature, capability, value }]) => {
      if (capability === undefined || (nature !== 'advice' && nature !== 'meaning'))
        return [];
      // What a server behind the gateway may know: the engine refuses what
      // it cannot honour.
      if (capability === PASSED_ON && nature === 'meaning') return [];
      return [{ param, capability, nature, value, usual: usual[param] }];
    },
  );
  RESTRICTED.set(type, found);
  return found;
}

/**
 * Fields of a request that were given and that only some models can honour.
 * @param body holds the fields that are only passed on @param asked decided elsewhere
 */
export function demandsOf(
  dto: object,
  body: Body = {},
  asked: Readonly<Record<string, boolean>> = {},
) {
  return restrictedFieldsOf(dto.constructor).flatMap(
    ({ param, capability, nature, value, usual }): AbilityDemand[] => {
      const isPassedOn = capability === PASSED_ON;
      const given = isPassedOn ? body[param] : (dto as Body)[param];
      const asks = isPassedOn ? !isNothing(given) : asksFor(given, usual, value);
      if (!(asked[param] ?? asks)) return [];
      const shown =
        typeof given === 'string' && value !== undefined ? `${param}=${value}` : param;
      return [{ param, shown, capability, nature: nature!, wanted: true }];
    },
  );
}

function asksFor(given: unknown, usual: unknown, value: string | undefined): boolean {
  if (value !== undefined)
    return given === value || (Array.isArray(given) && given.includes(value));
  return given !== usual && !(Array.isArray(given) && given.length === 0);
}

const isNothing = (value: unknown): boolean =>
  !value || (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * Every accepted field acts, is reported as ignored, or is rejected (D-34).
 * @returns the fields that `model` cannot use and that only advise.
 * @throws DomainError `unsupported_parameter` for the first other demand that `model`
 *   cannot meet; names the models
 * that can.
 */
export function demandAbilities(
  model: ModelSpec,
  demands: readonly AbilityDemand[],
  catalog: ModelCatalog,
  { strict }: Strictness = { strict: false },
): readonly string[] {
  const missing = demands.filter(
    ({ wanted, capability }) => wanted && !canHonour(model, capability),
  );
  const unmet = missing.find(({ nature }) => strict || nature !== 'advice');
  if (unmet === undefined) return missing.map(({ param }) => param);
  const able = catalog.namesAble(model.kind, unmet.capability);
  const field = unmet.shown ?? unmet.param;
  const message = `The model \`${model.id}\` cannot honour \`${field}\`; models that can: ${able}.`;
  throw new DomainError('unsupported_parameter', message, { param: unmet.param });
}

/**
 * @throws DomainError `unsupported_task` when models of its kind differ in that, and it
 *   cannot; names the models that
 * can.
 */
export function demandTask(
  model: ModelSpec,
  capability: string,
  catalog: ModelCatalog,
): void {
  if (model.capabilities.includes(capability)) return;
  const able = catalog.namesAble(model.kind, capability);
  throw new DomainError(
    'unsupported_task',
    `The model \`${model.id}\` does no ${capability}; models that do: ${able}.`,
    {
      param: 'model',
    },
  );
}

/**
 * @throws DomainError `invalid_value` when the model recognises other languages only.
 *   Regions are not compared.
 */
export function demandLanguage(
  model: ModelSpec,
  language: string,
  param = 'language',
): void {
  if (language === '' || knowsLanguage(model, language)) return;
  const known = model.languages.join(', ');
  const message = `\`${param}\` must be one that \`${model.id}\` recognises (${known}); got "${language}".`;
  throw new DomainError('invalid_value', message, { param });
}

/** Regions are not compared; a model without a list takes any. */
export const knowsLanguage = ({ languages }: ModelSpec, language: string): boolean =>
  languages.length === 0 || languages.some(known => baseOf(known) === baseOf(language));

/** What such a model writes is English already. */
export function speaksOnlyEnglish(model: ModelSpec): boolean {
  return (
    model.languages.length > 0 &&
    model.languages.every(language => baseOf(language) === 'en')
  );
}

const baseOf = (tag: string): string => (tag.split('-', 1)[0] ?? '').toLowerCase();

import { DomainError } from '../../core/shared/domain-error.js';
import { type FieldNature, type FieldRules, PASSED_ON } from '../../contracts/openai/field-rules.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type Settings } from '../../platform/config/settings.js';
import { canHonour, type ModelCatalog } from './model-catalog.js';

/** A field that only some models can honour, as it was given. */
export interface AbilityDemand {
  readonly param: string;
  /** What cannot be honoured, where that is one value of the field; default: the field. */
  readonly shown?: string;
  readonly capability: string;
  /** False when the value is the default, which every model honours by doing nothing. */
  readonly wanted: boolean;
  /** Default: meaning. */
  readonly nature?: FieldNature;
}

/** `compat.strict`: advice that cannot be used is refused, too. */
export type Strictness = Pick<Settings['compat'], 'strict'>;

/** The fields of one route that were given, by its rules. @param wanted false where the value is the default */
export const demandsOf = (rules: FieldRules, wanted: Readonly<Record<string, boolean>>): readonly AbilityDemand[] =>
  Object.keys(rules).flatMap(param => {
    if (!wanted[param]) return [];
    const { treatment: nature, capability } = rules[param]!;
    const isDemand = capability !== undefined && (nature === 'advice' || nature === 'meaning');
    return isDemand ? [{ param, capability, nature, wanted: true }] : [];
  });

/** Fields of a body that only a server behind the gateway may know, and that ask it for something. */
export const advisedIn = (rules: FieldRules, body: Readonly<Record<string, unknown>>): Record<string, boolean> =>
  Object.fromEntries(
    Object.keys(rules)
      .filter(name => !isNothing(body[name]))
      .filter(name => rules[name]!.treatment === 'advice' && rules[name]!.capability === PASSED_ON)
      .map(name => [name, true]),
  );

const isNothing = (value: unknown): boolean => !value || (typeof value === 'object' && Object.keys(value).length === 0);

/**
 * Every accepted field acts, is reported as ignored, or is rejected (D-34).
 * @returns the fields that `model` cannot use and that only advise.
 * @throws DomainError `unsupported_parameter` for the first other demand that `model` cannot meet; names the models
 * that can.
 */
export function demandAbilities(
  model: ModelSpec,
  demands: readonly AbilityDemand[],
  catalog: ModelCatalog,
  { strict }: Strictness = { strict: false },
): readonly string[] {
  const missing = demands.filter(({ wanted, capability }) => wanted && !canHonour(model, capability));
  const unmet = missing.find(({ nature }) => strict || nature !== 'advice');
  if (unmet === undefined) return missing.map(({ param }) => param);
  const able = catalog.namesAble(model.kind, unmet.capability);
  const field = unmet.shown ?? unmet.param;
  const message = `The model \`${model.id}\` cannot honour \`${field}\`; models that can: ${able}.`;
  throw new DomainError('unsupported_parameter', message, { param: unmet.param });
}

/**
 * @throws DomainError `unsupported_task` when models of its kind differ in that, and it cannot; names the models that
 * can.
 */
export function demandTask(model: ModelSpec, capability: string, catalog: ModelCatalog): void {
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

/** @throws DomainError `invalid_value` when the model recognises other languages only. Regions are not compared. */
export function demandLanguage(model: ModelSpec, language: string, param = 'language'): void {
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
  return model.languages.length > 0 && model.languages.every(language => baseOf(language) === 'en');
}

const baseOf = (tag: string): string => (tag.split('-', 1)[0] ?? '').toLowerCase();

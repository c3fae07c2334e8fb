import { invalidField } from '@switchyard/engine-api/field-problems.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import {
  type FieldNature,
  type FieldRules,
  PASSED_ON,
} from '../../contracts/openai/field-types.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import { IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type Settings } from '../../platform/config/settings.js';
import { parseDto } from '../http/dto-validation.js';
import { canHonour, type ModelCatalog } from './model-catalog.js';

/** `compat.strict`: advice that cannot be used is refused, too. */
export type Strictness = Pick<Settings['compat'], 'strict'>;

/** A field that only some models can honour. */
interface RestrictedField {
  readonly param: string;
  readonly capability: string;
  readonly nature: FieldNature;
  /** The one value that needs the capability. */
  readonly value?: string | undefined;
  /** Value of the field where the request does not give it. */
  readonly usual: unknown;
}

/** The restricted fields of each request class, found once. */
const RESTRICTED = new WeakMap<NewableFunction, readonly RestrictedField[]>();

function restrictedFieldsOf(type: NewableFunction): readonly RestrictedField[] {
  const known = RESTRICTED.get(type);
  if (known) return known;
  const usual = new (type as new () => Fields)();
  const found = Object.entries(rulesOf(type)).flatMap(
    ([param, { treatment: nature, capability, value }]) => {
      if (capability === undefined || (nature !== 'advice' && nature !== 'meaning')) return [];
      // What a server behind the gateway may know: the engine refuses what
      // it cannot honour.
      if (capability === PASSED_ON && nature === 'meaning') return [];
      return [{ param, capability, nature, value, usual: usual[param] }];
    },
  );
  RESTRICTED.set(type, found);
  return found;
}

/** The default asks for nothing: every model honours it by doing nothing. */
function asksFor({ capability, value, usual }: RestrictedField, given: unknown): boolean {
  const isList = Array.isArray(given);
  if (capability === PASSED_ON)
    return Boolean(given) && (typeof given !== 'object' || Object.keys(given!).length > 0);
  if (value !== undefined) return given === value || (isList && given.includes(value));
  return given !== usual && !(isList && given.length === 0);
}

/** What a request asks for. */
interface AskedFields {
  readonly dto: object;
  /** Holds the fields that are only passed on, and those that nothing knows. */
  readonly body?: Fields;
  /** Whether a field asks for something, where that is decided elsewhere. */
  readonly asked?: Readonly<Record<string, boolean>>;
}

const valueOf = ({ capability, param }: RestrictedField, { dto, body }: AskedFields): unknown =>
  capability === PASSED_ON ? body?.[param] : (dto as Fields)[param];

/** `stream_format=sse` where only that value needs the capability. */
function shownOf(field: RestrictedField, fields: AskedFields): string {
  const { param, value } = field;
  const isValue = typeof valueOf(field, fields) === 'string' && value !== undefined;
  return isValue ? `${param}=${value}` : param;
}

/**
 * Every accepted field acts, is reported as ignored, or is rejected (D-34).
 * @returns the fields that `model` cannot use and that only advise.
 * @throws DomainError `unsupported_parameter` for the first other field that `model`
 *   cannot honour; names the models that can.
 */
export function demandAbilities(
  model: ModelSpec,
  fields: AskedFields,
  catalog: ModelCatalog,
  { strict }: Strictness = { strict: false },
): readonly string[] {
  const isAsked = (field: RestrictedField): boolean =>
    fields.asked?.[field.param] ?? asksFor(field, valueOf(field, fields));
  const unusable = restrictedFieldsOf(fields.dto.constructor).filter(
    field => isAsked(field) && !canHonour(model, field.capability),
  );
  const refused = unusable.find(({ nature }) => strict || nature === 'meaning');
  if (refused) throw cannotHonour(model, { ...refused, shown: shownOf(refused, fields) }, catalog);
  const { dto, body = {} } = fields;
  const ignored = new IgnoredFields(strict);
  if (canHonour(model, PASSED_ON)) ignored.priority(body);
  else ignored.unknown(knownFieldsOf(dto.constructor), body);
  return [...unusable.map(({ param }) => param), ...ignored.paths];
}

/** The rules of the fields of each request class, found once. */
const KNOWN = new WeakMap<NewableFunction, FieldRules>();

function knownFieldsOf(type: NewableFunction): FieldRules {
  const known = KNOWN.get(type) ?? rulesOf(type);
  KNOWN.set(type, known);
  return known;
}

/** @param field `shown`: what cannot be honoured of it; default: the field */
export function cannotHonour(
  model: ModelSpec,
  {
    capability,
    param,
    shown = param,
  }: {
    readonly capability: string;
    readonly param: string;
    readonly shown?: string;
  },
  catalog: ModelCatalog,
): DomainError {
  const able = catalog.namesAble(model.kind, capability);
  const message = `The model \`${model.id}\` cannot honour \`${shown}\`; models that can: ${able}.`;
  return new DomainError('unsupported_parameter', message, { param });
}

/**
 * @throws DomainError `invalid_value` when the model recognises other languages only.
 *   Regions are not compared.
 */
export function demandLanguage(model: ModelSpec, language: string, param = 'language'): void {
  if (language === '' || knowsLanguage(model, language)) return;
  const known = model.languages.join(', ');
  const message = `\`${param}\` must be one that \`${model.id}\` recognises (${known}); got "${language}".`;
  throw invalidField(param, message);
}

/** Regions are not compared; a model without a list takes any. */
const knowsLanguage = ({ languages }: ModelSpec, language: string): boolean =>
  languages.length === 0 || languages.some(known => baseOf(known) === baseOf(language));

/**
 * Of candidates the one that the model recognises; undefined: several, it detects which.
 * @throws DomainError as `demandLanguage` when it recognises none of them
 */
export function knownCandidate(
  model: ModelSpec,
  languages: readonly string[],
  param?: string,
): string | undefined {
  const [known, ...others] = languages.filter(tag => knowsLanguage(model, tag));
  if (known === undefined) demandLanguage(model, languages[0] ?? '', param);
  return others.length === 0 ? known : undefined;
}

const baseOf = (tag: string): string => (tag.split('-', 1)[0] ?? '').toLowerCase();

/**
 * Of a route whose body names a model. @param task what models of that kind differ in
 * @returns reads a body; throws DomainError for the first thing wrong with it
 */
export const requestParser =
  <T extends { readonly model: string }>(
    type: new () => T,
    kind: ModelSpec['kind'],
    task?: string,
  ) =>
  (body: Fields, catalog: ModelCatalog, compat?: Strictness) => {
    const dto = parseDto(type, body);
    const model = catalog.getOfKind(dto.model, kind, task);
    /** Fields that only advise and that this model cannot use. */
    const ignored = demandAbilities(model, { dto, body }, catalog, compat);
    return { model, dto, ignored };
  };

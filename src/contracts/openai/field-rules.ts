import { unsupportedField } from '../schema/read-object.js';
import { asksForNothing } from '../schema/rules.js';

/** OpenAI's `service_tier`; `fast` is a newer name of `priority`. */
export const SERVICE_TIERS = [
  'auto',
  'default',
  'flex',
  'scale',
  'priority',
  'fast',
] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

/** Asks for REALTIME; everything else for BATCH. */
export const isUrgent = (tier: ServiceTier): boolean =>
  tier === 'priority' || tier === 'fast';

/**
 * Advisory fields of one request that cannot be honoured (D-34): accepted, and reported
 * to the caller by their paths, or refused when `compat.strict` is on.
 */
export class IgnoredFields {
  readonly #paths: string[] = [];

  constructor(readonly strict = false) {}

  add(path: string): void {
    this.#paths.push(path);
  }

  /** @throws DomainError where nothing may be ignored */
  ignore(param: string, why: string): void {
    if (this.strict) throw unsupportedField(param, why);
    this.add(param);
  }

  /** A field that has no effect here, if it asks for one. @throws DomainError */
  advised(param: string, value: unknown, why: string): void {
    if (!asksForNothing(value)) this.ignore(param, why);
  }

  /**
   * Those of `rules` that cannot act here. @throws DomainError for the first
   * that is refused
   */
  settle(rules: FieldRules, object: Readonly<Record<string, unknown>>, path = ''): void {
    for (const [name, { treatment, why }] of Object.entries(rules)) {
      const param = path === '' ? name : `${path}.${name}`;
      if (treatment === 'ignored') this.advised(param, object[name], why);
      if (treatment === 'refused' && !asksForNothing(object[name]))
        throw unsupportedField(param, why);
    }
  }

  get paths(): readonly string[] {
    return this.#paths;
  }
}

/** Header that names the ignored fields of an HTTP request, separated by commas. */
export const IGNORED_HEADER = 'x-switchyard-ignored';

/**
 * What happens to a field (D-34):
 * - `honoured`: it acts with every model
 * - `advice`: it may make an answer better; a model that cannot use it answers without,
 *   and the answer says so
 * - `meaning`: it decides what the answer is; a model that cannot honour it refuses it
 * - `ignored`: it advises, and has no effect here: accepted and reported
 * - `refused`: it changes the meaning and cannot be honoured here
 */
type FieldTreatment = 'honoured' | 'advice' | 'meaning' | 'ignored' | 'refused';

/** How a field that a model cannot honour is answered. */
export type FieldNature = 'advice' | 'meaning';

export interface FieldRule {
  readonly treatment: FieldTreatment;
  /** What a model has to be able to do; of `advice` and `meaning`. */
  readonly capability?: string;
  /** Why, or how far. */
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

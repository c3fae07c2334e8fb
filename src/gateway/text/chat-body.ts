import { type Fields } from '@switchyard/engine-api/is-object.js';
import { PASSED_ON } from '../../contracts/openai/field-types.js';
import { type IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type Strictness } from '../models/model-abilities.js';
import { canHonour, type ModelCatalog } from '../models/model-catalog.js';
import { parseChat } from './parse-generation.js';

/** Of a body: fields without a value are not there. */
export const given = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));

export const streamed = (isStream: boolean): Fields =>
  isStream ? { stream: true, stream_options: { include_usage: true } } : {};

export const thinking = (isOn: boolean): Fields => ({
  chat_template_kwargs: { enable_thinking: isOn },
});

/** @param json its arguments */
export const callOf = (id: string, name: string, json: string): Fields => ({
  id,
  type: 'function',
  function: { name, arguments: json },
});

export const imagePart = (url: string, detail?: string): Fields => ({
  type: 'image_url',
  image_url: { url, ...(detail !== undefined && { detail }) },
});

/** Reports a bound that the model cannot reach. @param name as its caller knows it */
export function reportUnreachable(
  { options }: ModelSpec,
  { name, value }: { readonly name: string; readonly value: unknown },
  ignored: IgnoredFields,
): void {
  const { contextTokens } = options;
  if (typeof value === 'number' && typeof contextTokens === 'number' && value > contextTokens)
    ignored.ignore(name, `this model has a context of ${contextTokens} tokens`);
}

/**
 * The work of a body that another dialect was translated to.
 * @throws DomainError for the first thing wrong with it
 */
export function translated(
  body: Fields,
  ignored: IgnoredFields,
  catalog: ModelCatalog,
  compat: Strictness,
  parse = parseChat,
) {
  const model = catalog.getOfKind(String(body.model), 'llm');
  // Servers behind the gateway have bounds of their own.
  const asked = canHonour(model, PASSED_ON) ? body : { ...body, clamp_max_tokens: true };
  const { generation, ignored: unusable } = parse(asked, catalog, compat);
  return { generation, ignored: [...ignored.paths, ...unusable] };
}

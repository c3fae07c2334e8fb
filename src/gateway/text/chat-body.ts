import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type IgnoredFields } from '../../contracts/openai/ignored-fields.js';
import { type Strictness } from '../models/model-abilities.js';
import { type ModelCatalog } from '../models/model-catalog.js';
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
  const { generation, ignored: unusable } = parse(body, catalog, compat);
  return { generation, ignored: [...ignored.paths, ...unusable] };
}

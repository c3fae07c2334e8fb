import { boundsOf, refused, type Schema, shown } from './schema-fields.js';
import { patternsOf } from './schema-merge.js';
import { DESCRIBING_FORMATS, IMPLIED_PATTERNS, KNOWN_FORMATS } from './string-formats.js';
import { type StringDemands } from './string-rules.js';

/** What the keywords of strings ask for. @throws DomainError at a format that is not known */
export function stringDemands(schema: Schema, path: string): StringDemands {
  const texts = schema.pattern === undefined ? [] : patternsOf(schema.pattern);
  const patterns = texts.map(text => {
    if (typeof text === 'string') return { text, path: `${path}.pattern` };
    throw refused(`${path}.pattern`, `must be a regular expression; got ${shown(text)}`);
  });
  const format = formatOf(schema, patterns.length > 0, path);
  return {
    lengths: boundsOf(schema, ['minLength', 'maxLength'], path),
    patterns: patterns.filter(({ text }) => format === undefined || IMPLIED_PATTERNS.get(text) !== format),
    ...(format !== undefined && { format }),
    path,
  };
}

/** Undefined: none that rules anything out. Beside a pattern, an unknown format is a name for that pattern. */
function formatOf({ format }: Schema, hasPattern: boolean, path: string): string | undefined {
  if (format === undefined || DESCRIBING_FORMATS.has(format)) return undefined;
  if (typeof format === 'string' && Object.hasOwn(KNOWN_FORMATS, format)) return format;
  if (hasPattern && typeof format === 'string') return undefined;
  const known = Object.keys(KNOWN_FORMATS).join(', ');
  throw refused(`${path}.format`, `cannot be held; those that can are ${known}; got ${shown(format)}`);
}

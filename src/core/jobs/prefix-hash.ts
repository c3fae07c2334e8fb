import { fieldsIn } from '@switchyard/engine-api/is-object.js';

const FNV_OFFSET = 0x811c9dc5;

const FNV_PRIME = 0x01000193;

const utf8 = new TextEncoder();

/** FNV-32a of UTF-8. */
export function fnv32a(text: string): number {
  let hash = FNV_OFFSET;
  for (const byte of utf8.encode(text)) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return hash >>> 0;
}

/**
 * Hash of the leading system (or developer) prompt of a chat body; 0 without one, as for
 * every other kind of body.
 */
export function prefixHash(body: unknown): number {
  const text = systemPrompt(body);
  // 0 means "none": a prompt that happens to hash to it is moved aside, which costs
  // nothing but its neighbourhood.
  return text === '' ? 0 : fnv32a(text) || 1;
}

function systemPrompt(body: unknown): string {
  const instructions = fieldsIn(body).instructions;
  if (typeof instructions === 'string') return instructions;
  const messages = fieldsIn(body).messages ?? fieldsIn(body).input;
  if (!Array.isArray(messages)) return '';
  const first: unknown = messages.find(message => isSystem(fieldsIn(message).role));
  return textOf(fieldsIn(first).content);
}

const isSystem = (role: unknown): boolean => role === 'system' || role === 'developer';

/** A string, or content parts: `[{type: "text", text}]`. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map(part => fieldsIn(part).text)
    .filter(text => typeof text === 'string')
    .join('\n');
}

import { type Fields } from '@switchyard/engine-api/is-object.js';
import { z } from 'zod';
import { IgnoredFields } from '../../contracts/openai/field-types.js';
import { MOST_ITEMS } from '../../contracts/openai/response.dto.js';
import {
  ITEM_REFERENCE,
  type ItemReference,
  RESPONSE_ITEMS,
  type ResponseItem,
} from '../../contracts/openai/response-items.js';
import { missingField, readObject } from '../../contracts/schema/field-problems.js';
import { objectsUpTo, optional, textUpTo } from '../../contracts/schema/rules.js';
import { messageOfCompaction } from './compaction.js';

type InputItem = ResponseItem | ItemReference;

/** Makes ids for items that were given none. */
export type NewId = (prefix: string) => string;

const HEAD = z.object(
  { type: optional(textUpTo(128)), id: optional(textUpTo(256)) },
  'must be an object',
);
const HEADS = objectsUpTo(MOST_ITEMS, HEAD);

/**
 * The input of a request as whole items. Those that no model here can read are left
 * out, with notice.
 * @throws DomainError for the first item that is malformed
 */
export function readInput(
  input: unknown,
  newId: NewId,
  ignored = new IgnoredFields(true),
): readonly InputItem[] {
  if (input === undefined) return [];
  const items =
    typeof input === 'string'
      ? [{ role: 'user', content: input }]
      : (input as readonly Fields[]);
  return readObject(HEADS, items, 'input').flatMap((head, index) => {
    const path = `input[${index}]`;
    const item = readItem(items[index]!, head, path, newId);
    if (!item) ignored.ignore(path, `items of type \`${head.type}\` are not read here`);
    return item ?? [];
  });
}

function readItem(
  item: Fields,
  head: z.output<typeof HEAD>,
  path: string,
  newId: NewId,
): InputItem | undefined {
  const { type = item.role == null ? undefined : 'message', id } = head;
  if (type === undefined && id === undefined) throw missingField(`${path}.type`);
  // An id alone is how references are abbreviated.
  if (type === undefined || type === 'item_reference')
    return readObject(ITEM_REFERENCE, { type: 'item_reference', id }, path);
  const whole = wholeOf(item, type);
  if (!isKnown(whole.type)) return undefined;
  const [schema, prefix] = RESPONSE_ITEMS[whole.type];
  const read: z.ZodType<ResponseItem> = schema;
  return readObject(read, { ...whole, id: id ?? newId(prefix) }, path);
}

function wholeOf(item: Fields, type: string): Fields {
  if (type === 'message') return messageOf(item);
  if (type === 'compaction')
    return { ...item, ...messageOfCompaction(item.encrypted_content) };
  return callOf(item, type);
}

const isKnown = (type: unknown): type is keyof typeof RESPONSE_ITEMS =>
  Object.hasOwn(RESPONSE_ITEMS, String(type));

/** A text is a message of one part. */
function messageOf(item: Fields): Fields {
  const { role, content: text } = item;
  if (typeof text !== 'string') return { ...item, type: 'message' };
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { ...item, type: 'message', content: [{ type, text }] };
}

/**
 * Calls of other servers' tools, and what they brought: a model reads them as
 * those of functions.
 */
function callOf(item: Fields, type: string): Fields {
  const [, name, output] = OTHER_CALL.exec(type) ?? [];
  if (name === undefined || item.call_id == null) return item;
  if (output !== undefined)
    return { ...item, type: 'function_call_output', output: textOf(item.output) };
  const given = textOf(item.action ?? item.operation);
  return { ...item, type: 'function_call', name, arguments: given };
}

const OTHER_CALL = /^(local_shell|shell|apply_patch)_call(_output)?$/;

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? {});

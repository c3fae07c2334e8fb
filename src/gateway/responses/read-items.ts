import { MOST_ITEMS } from '../../contracts/openai/response.dto.js';
import {
  type InputPart,
  type ItemReference,
  type ItemStatus,
  type MessageItem,
  type MessagePart,
  type ReasoningItem,
  type ResponseItem,
} from '../../contracts/openai/responses.js';
import { FieldReader } from '../../contracts/realtime/field-reader.js';

const MOST_PARTS = 1000;
const LONGEST_ID = 256;
const LONGEST_NAME = 128;
const ROLES = ['user', 'assistant', 'system', 'developer'] as const;
const STATUSES = ['in_progress', 'completed', 'incomplete'] as const;
const TYPES = ['message', 'function_call', 'function_call_output', 'reasoning', 'item_reference'] as const;

/** Makes ids for items that were given none. */
export type NewId = (prefix: string) => string;

/**
 * The input of a request as whole items.
 * @throws DomainError for the first item that is none, or that no model here can read
 */
export function readInput(input: unknown, newId: NewId): readonly (ResponseItem | ItemReference)[] {
  if (input === undefined) return [];
  if (typeof input === 'string') {
    const content = [{ type: 'input_text', text: input }] as const;
    return [{ type: 'message', id: newId('msg'), status: 'completed', role: 'user', content }];
  }
  const items = new FieldReader({ input }, '').objects('input', MOST_ITEMS) ?? [];
  return items.map(item => readItem(item, newId));
}

function readItem(item: FieldReader, newId: NewId): ResponseItem | ItemReference {
  const type = (item.raw('type') ?? (item.has('role') ? 'message' : undefined)) as (typeof TYPES)[number] | undefined;
  const id = item.string('id', LONGEST_ID);
  switch (type) {
    case undefined:
      // An id alone is how references are abbreviated.
      if (id === undefined) throw item.missing('type');
      return { type: 'item_reference', id };
    case 'item_reference':
      return { type, id: id ?? demanded(item, 'id') };
    case 'message':
      return messageOf(item, id ?? newId('msg'));
    case 'function_call': {
      const call = { call_id: demanded(item, 'call_id', LONGEST_ID), name: demanded(item, 'name', LONGEST_NAME) };
      return { type, id: id ?? newId('fc'), ...call, arguments: demanded(item, 'arguments'), status: statusOf(item) };
    }
    case 'function_call_output': {
      const call_id = demanded(item, 'call_id', LONGEST_ID);
      return { type, id: id ?? newId('fco'), call_id, output: outputOf(item), status: statusOf(item) };
    }
    case 'reasoning':
      return reasoningOf(item, id ?? newId('rs'));
    default:
      throw item.invalid('type', `must be one of ${TYPES.join(', ')}: hosted tools are not served here`);
  }
}

const statusOf = (item: FieldReader): ItemStatus => item.oneOf('status', STATUSES) ?? 'completed';

function demanded(item: FieldReader, name: string, longest = Infinity): string {
  const value = item.string(name, longest);
  if (value === undefined || (value === '' && name !== 'arguments' && name !== 'text')) throw item.missing(name);
  return value;
}

function messageOf(item: FieldReader, id: string): MessageItem {
  const role = item.oneOf('role', ROLES);
  if (role === undefined) throw item.missing('role');
  return { type: 'message', id, status: statusOf(item), role, content: contentOf(item, role === 'assistant') };
}

function contentOf(item: FieldReader, isAnswer: boolean): readonly MessagePart[] {
  const content = item.raw('content');
  if (content === undefined) throw item.missing('content');
  if (typeof content === 'string') return [isAnswer ? outputText(content) : { type: 'input_text', text: content }];
  return (item.objects('content', MOST_PARTS) ?? []).map(partOf);
}

const outputText = (text: string): MessagePart => ({ type: 'output_text', text, annotations: [], logprobs: [] });

function partOf(part: FieldReader): MessagePart {
  switch (part.raw('type')) {
    case 'output_text':
      return outputText(demanded(part, 'text'));
    case 'refusal':
      return { type: 'refusal', refusal: demanded(part, 'refusal') };
    default:
      return inputPartOf(part);
  }
}

function inputPartOf(part: FieldReader): InputPart {
  const type = part.raw('type');
  // Parts of a chat: libraries that speak both mix them up.
  if (type === 'input_text' || type === 'text') return { type: 'input_text', text: demanded(part, 'text') };
  if (type !== 'input_image') throw part.invalid('type', 'must be input_text or input_image');
  part.unsupported('file_id', 'images are given by `image_url`');
  const detail = part.oneOf('detail', ['low', 'high', 'auto']) ?? 'auto';
  return { type, image_url: demanded(part, 'image_url'), detail };
}

function outputOf(item: FieldReader): string | readonly InputPart[] {
  const output = item.raw('output');
  if (output === undefined) throw item.missing('output');
  if (typeof output === 'string') return output;
  return (item.objects('output', MOST_PARTS) ?? []).map(inputPartOf);
}

function reasoningOf(item: FieldReader, id: string): ReasoningItem {
  const texts = (name: 'summary' | 'content'): readonly string[] =>
    (item.objects(name, MOST_PARTS) ?? []).map(part => demanded(part, 'text'));
  const encrypted = item.string('encrypted_content', Infinity);
  return {
    ...{ type: 'reasoning', id },
    summary: texts('summary').map(text => ({ type: 'summary_text', text })),
    content: texts('content').map(text => ({ type: 'reasoning_text', text })),
    ...(encrypted !== undefined && { encrypted_content: encrypted }),
    status: statusOf(item),
  };
}

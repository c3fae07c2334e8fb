import { type IgnoredFields } from '../../contracts/openai/field-rules.js';
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
/**
 * Calls of other servers' tools, and what they brought: a model reads them as
 * those of functions.
 */
const OTHER_CALL = /^(local_shell|shell|apply_patch)_call(_output)?$/;

type InputItem = ResponseItem | ItemReference;

/** Makes ids for items that were given none. */
export type NewId = (prefix: string) => string;

/**
 * The input of a request as whole items. Those that no model here can read are left
 * out, with notice.
 * @throws DomainError for the first item that is malformed
 */
export function readInput(
  input: unknown,
  newId: NewId,
  ignored?: IgnoredFields,
): readonly InputItem[] {
  if (input === undefined) return [];
  if (typeof input === 'string') {
    const content = [{ type: 'input_text', text: input }] as const;
    return [
      { type: 'message', id: newId('msg'), status: 'completed', role: 'user', content },
    ];
  }
  const fields = new FieldReader({ input }, '', ignored);
  return (fields.objects('input', MOST_ITEMS) ?? []).flatMap((item, index) => {
    const read = readItem(item, newId);
    if (!read)
      fields.ignore(
        `input[${index}]`,
        `items of type \`${String(item.raw('type'))}\` are not read here`,
      );
    return read ?? [];
  });
}

function readItem(item: FieldReader, newId: NewId): InputItem | undefined {
  const type =
    item.string('type', LONGEST_NAME) ?? (item.has('role') ? 'message' : undefined);
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
    case 'function_call':
      return {
        type,
        ...callOf(item, id ?? newId('fc')),
        name: nameOf(item),
        arguments: demanded(item, 'arguments'),
      };
    case 'custom_tool_call':
      return {
        type,
        ...callOf(item, id ?? newId('ctc')),
        name: nameOf(item),
        input: demanded(item, 'input'),
      };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { type, ...callOf(item, id ?? newId('fco')), output: outputOf(item) };
    case 'reasoning':
      return reasoningOf(item, id ?? newId('rs'));
    default:
      return OTHER_CALL.test(type) && item.has('call_id')
        ? otherCall(item, type, id ?? newId('fc'))
        : undefined;
  }
}

const callOf = (item: FieldReader, id: string) => {
  const namespace = item.string('namespace', LONGEST_NAME);
  const call_id = demanded(item, 'call_id', LONGEST_ID);
  return {
    id,
    call_id,
    ...(namespace !== undefined && { namespace }),
    status: statusOf(item),
  };
};

const nameOf = (item: FieldReader): string => demanded(item, 'name', LONGEST_NAME);

function otherCall(item: FieldReader, type: string, id: string): ResponseItem {
  const [name = type] = type.split('_call');
  const call = callOf(item, id);
  const textOf = (value: unknown = {}): string =>
    typeof value === 'string' ? value : JSON.stringify(value);
  if (type.endsWith('_output'))
    return { type: 'function_call_output', ...call, output: textOf(item.raw('output')) };
  return {
    type: 'function_call',
    ...call,
    name,
    arguments: textOf(item.raw('action') ?? item.raw('operation')),
  };
}

const statusOf = (item: FieldReader): ItemStatus =>
  item.oneOf('status', STATUSES) ?? 'completed';

const MAY_BE_EMPTY = ['arguments', 'input', 'text'];

function demanded(item: FieldReader, name: string, longest = Infinity): string {
  const value = item.string(name, longest);
  if (value === undefined || (value === '' && !MAY_BE_EMPTY.includes(name)))
    throw item.missing(name);
  return value;
}

function messageOf(item: FieldReader, id: string): MessageItem {
  const role = item.oneOf('role', ROLES);
  if (role === undefined) throw item.missing('role');
  return {
    type: 'message',
    id,
    status: statusOf(item),
    role,
    content: contentOf(item, role === 'assistant'),
  };
}

function contentOf(item: FieldReader, isAnswer: boolean): readonly MessagePart[] {
  const content = item.raw('content');
  if (content === undefined) throw item.missing('content');
  if (typeof content === 'string')
    return [isAnswer ? outputText(content) : { type: 'input_text', text: content }];
  return (item.objects('content', MOST_PARTS) ?? []).map(partOf);
}

const outputText = (text: string): MessagePart => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: [],
});

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
  // Parts of a chat and of answers: libraries that speak both mix them up.
  if (type === 'input_text' || type === 'output_text' || type === 'text')
    return { type: 'input_text', text: demanded(part, 'text') };
  if (type !== 'input_image')
    throw part.invalid('type', 'must be input_text or input_image');
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

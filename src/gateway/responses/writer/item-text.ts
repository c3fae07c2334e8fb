import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type ResponseItem } from '../../../contracts/openai/response-items.js';
import { type ResponseEventBody } from '../../../contracts/openai/responses.js';

/**
 * What has a text that comes in pieces, a part of an item or a call: how its events are
 * named, and the field of the text.
 */
export const TEXTS = {
  output_text: ['output_text', 'text'],
  refusal: ['refusal', 'refusal'],
  reasoning_text: ['reasoning_text', 'text'],
  function_call: ['function_call_arguments', 'arguments'],
  custom_tool_call: ['custom_tool_call_input', 'input'],
} as const;

type SpokenText = Fields & { readonly type: keyof typeof TEXTS };

export const isCall = (item: ResponseItem | undefined): boolean =>
  item !== undefined && 'call_id' in item;

/** What holds the text of an item: its one part, or itself. */
export const textIn = (item: ResponseItem): SpokenText =>
  ('content' in item ? item.content[0] : item) as SpokenText;

/** An item that is made, with what an event about it tells. */
export function withEvent(item: ResponseItem, event: ResponseEventBody): ResponseItem {
  if (event.type === 'response.content_part.added')
    return { ...item, content: [event.part] } as ResponseItem;
  if (!('delta' in event)) return item;
  const { delta, logprobs = [] } = event;
  const before = textIn(item);
  const [, field] = TEXTS[before.type];
  const after = {
    ...before,
    [field]: `${before[field] as string}${delta}`,
    ...(logprobs.length > 0 && {
      logprobs: [...(before.logprobs as readonly object[]), ...logprobs],
    }),
  };
  return ('content' in item ? { ...item, content: [after] } : after) as ResponseItem;
}

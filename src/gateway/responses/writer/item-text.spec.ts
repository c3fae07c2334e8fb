import { describe, expect, it } from '@jest/globals';
import { type ResponseItem } from '../../../contracts/openai/response-items.js';
import { isCall, textIn, withEvent } from './item-text.js';

const item = (fields: object) => fields as ResponseItem;
const message = (part: object) => item({ type: 'message', content: [part] });
const apply = (given: ResponseItem, event: object) => withEvent(given, event as never);

describe('the text of an item', () => {
  it('is that of its content, or its own', () => {
    const part = { type: 'output_text', text: 'a' };
    expect(textIn(message(part))).toBe(part);
    const call = item({ type: 'function_call', call_id: 'c', arguments: '{' });
    expect(textIn(call)).toBe(call);
    expect([isCall(call), isCall(message(part)), isCall(undefined)]).toEqual([true, false, false]);
  });

  it.each([
    [
      message({ type: 'output_text', text: 'a', logprobs: [] }),
      { delta: 'b', logprobs: [] },
      message({ type: 'output_text', text: 'ab', logprobs: [] }),
    ],
    [
      message({ type: 'output_text', text: 'a', logprobs: [{ n: 1 }] }),
      { delta: 'b', logprobs: [{ n: 2 }] },
      message({ type: 'output_text', text: 'ab', logprobs: [{ n: 1 }, { n: 2 }] }),
    ],
    [
      message({ type: 'refusal', refusal: 'n' }),
      { delta: 'o' },
      message({ type: 'refusal', refusal: 'no' }),
    ],
    [
      item({ type: 'custom_tool_call', call_id: 'c', input: 'x' }),
      { delta: 'y' },
      item({ type: 'custom_tool_call', call_id: 'c', input: 'xy' }),
    ],
    [item({ type: 'message' }), { type: 'response.other' }, item({ type: 'message' })],
    [
      item({ type: 'message', content: [] }),
      { type: 'response.content_part.added', part: { type: 'output_text', text: '' } },
      message({ type: 'output_text', text: '' }),
    ],
  ])('of %j after %j is %j', (before, event, after) => {
    expect(apply(before, event)).toEqual(after);
  });
});

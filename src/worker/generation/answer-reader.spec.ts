import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { answerReader } from './answer-reader.js';

function read(pieces: readonly string[], isInside = false) {
  const reader = answerReader({ thinking: isInside ? 'inside' : 'possible' });
  const all = [...pieces.map(piece => reader.take(piece)), reader.flush()];
  return {
    reasoning: all.map(({ reasoning }) => reasoning).join(''),
    content: all.map(({ content }) => content).join(''),
  };
}

describe('ReasoningReader', () => {
  it.each([
    [
      'thoughts before an answer',
      '<think>\nHm. 2 < 3.\n</think>\n\nYes.',
      false,
      'Hm. 2 < 3.\n',
      'Yes.',
    ],
    ['thoughts that the prompt began', '\nHm.\n</think>\n\nYes.', true, 'Hm.\n', 'Yes.'],
    ['no thoughts', 'Yes, <b>.', false, '', 'Yes, <b>.'],
    ['empty thoughts', '<think>\n\n</think>\n\nYes.', false, '', 'Yes.'],
    ['an end in the middle of the thoughts', '<think>Hm', false, 'Hm', ''],
    ['a mark in the answer', 'Use <think> and </think>.', false, '', 'Use <think> and </think>.'],
    ['half a mark and no more', '<thi', false, '', '<thi'],
    ['white space and no thoughts', '  \n', false, '', '  \n'],
  ])('%s', (_, text, isInside, reasoning, content) => {
    expect(read([text], isInside)).toEqual({ reasoning, content });
    expect(read([...text], isInside)).toEqual({ reasoning, content });
  });

  it('reads the same however an answer is cut', () => {
    const piece = fc.constantFrom('<think>', '</think>', '<', 'think>', ' ', '\n', 'a', '/');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.boolean(), (pieces, isInside) => {
        expect(read(pieces, isInside)).toEqual(read([pieces.join('')], isInside));
      }),
    );
  });
});

describe('the last piece of an answer that was cut', () => {
  const cut = (text: string, isCut = true) => {
    const reader = answerReader({ thinking: 'possible', tools: { texts: [] } });
    const [first, last] = [reader.take(text), reader.flush('', isCut)];
    return [first.content + last.content, [...first.calls, ...last.calls]];
  };

  it.each([
    ['Look. <tool_call>{"name": ', 'Look. '],
    ['Look. <tool_c', 'Look. '],
    ['Look.', 'Look.'],
  ])('says nothing that may become a call: %j', (text, content) => {
    expect(cut(text)).toEqual([content, []]);
  });

  it('says what the model ended with by itself', () => {
    const text = 'Look. <tool_call>{"name": ';
    expect(cut(text, false)).toEqual([text, []]);
  });

  it('has a call that is whole but for its end', () => {
    const call = { name: 'f', arguments: '{"x":12345678901234567890}' };
    expect(cut('<tool_call>{"name":"f","arguments":{"x":12345678901234567890}}')).toEqual([
      '',
      [call],
    ]);
  });
});

describe('white space around calls', () => {
  const CALL = '<tool_call>{"name":"f","arguments":{}}</tool_call>';
  const withTools = (pieces: readonly string[]) => {
    const reader = answerReader({ tools: { texts: [] } });
    const all = [...pieces.map(piece => reader.take(piece)), reader.flush()];
    return [all.map(({ content }) => content).join(''), all.flatMap(({ calls }) => calls).length];
  };

  it.each([
    ['between two calls, before and after them', `\n${CALL}\n${CALL}\n`, '', 2],
    ['between a text and a call it stays', `Look.\n${CALL}\n`, 'Look.\n', 1],
    ['before a text that follows a call it stays', `${CALL}\nDone. `, '\nDone. ', 1],
    ['before what looks like a call it stays', '\n<tool_call>no</tool_call>', undefined, 0],
    ['of an answer without calls it stays', ' \n', undefined, 0],
  ])('%s', (_, text, content = text, calls) => {
    expect(withTools([text])).toEqual([content, calls]);
    expect(withTools([...text])).toEqual([content, calls]);
  });

  it('is the same however an answer is cut', () => {
    const piece = fc.constantFrom(CALL, '<tool_call>', '</tool_call>', ' ', '\n', 'a', '<');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
        expect(withTools(pieces)).toEqual(withTools([pieces.join('')]));
      }),
    );
  });
});

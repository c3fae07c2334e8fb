import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AnswerText } from './answer-text.js';
import { ToolCallReader } from './tool-call-reader.js';

/** The text cut into tokens of these lengths, in bytes. */
function cut(text: string, lengths: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const tokens: Buffer[] = [];
  for (let at = 0, next = 0; at < bytes.length; next++) {
    const length = lengths[next % lengths.length] ?? 1;
    tokens.push(bytes.subarray(at, at + length));
    at += length;
  }
  return tokens;
}

function shown(text: string, lengths: readonly number[], stop: readonly string[] = []) {
  const answer = new AnswerText(stop);
  const pieces = [];
  for (const bytes of cut(text, lengths)) {
    pieces.push(answer.take({ bytes }));
    if (answer.stopped) break;
  }
  pieces.push(answer.flush());
  return {
    text: pieces.map(piece => piece.text).join(''),
    pieces,
    stopped: answer.stopped,
  };
}

const lengths = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 });
const words = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'ü', '😀', ' '), { maxLength: 20 })
  .map(list => list.join(''));

describe('the text of an answer', () => {
  it('is the same however it is cut into tokens', () => {
    fc.assert(
      fc.property(words, lengths, (text, sizes) => shown(text, sizes).text === text),
    );
  });

  it('ends before the first stop string, and shows no part of it', () => {
    const stops = fc.array(fc.constantFrom('ab', 'ba', 'aab', 'ü ', '😀a'), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(words, lengths, stops, (text, sizes, stop) => {
        // Looked at token by token: the first token that completes one decides.
        const tokens = cut(text, sizes);
        const seen = tokens.map((_, at) =>
          Buffer.concat(tokens.slice(0, at + 1)).toString(),
        );
        const at = seen.find(part => stop.some(mark => part.includes(mark)));
        const ends =
          at === undefined
            ? []
            : stop.map(mark => at.indexOf(mark)).filter(index => index >= 0);
        const expected = at === undefined ? text : at.slice(0, Math.min(...ends));
        expect(shown(text, sizes, stop)).toMatchObject({
          text: expected,
          stopped: at !== undefined,
        });
      }),
    );
  });

  it('comes with each token once, in the piece where its text begins', () => {
    const { pieces } = shown('a😀b', [1, 2, 2, 1]);
    expect(
      pieces.map(({ text, tokens }) => [text, tokens.map(({ offset }) => offset)]),
    ).toEqual([
      ['a', [0]],
      ['', []],
      ['😀', [1, 1]],
      ['b', [3]],
      ['', []],
    ]);
  });

  it('ends with a replacement where the model stopped inside a character', () => {
    const answer = new AnswerText();
    answer.take({ bytes: Buffer.from('😀').subarray(0, 2) });
    expect(answer.flush().text).toBe('\ufffd');
  });
});

describe('calls of tools in a text', () => {
  const CALL = '<tool_call>{"name":"f","arguments":{"x":1}}</tool_call>';
  const read = (text: string, sizes: readonly number[]) => {
    const reader = new ToolCallReader();
    const parts = [
      ...cut(text, sizes).map(bytes => reader.take(bytes.toString())),
      reader.flush(),
    ];
    return {
      content: parts.map(({ content }) => content).join(''),
      calls: parts.flatMap(({ calls }) => calls),
    };
  };

  it('are found however they are cut, and the rest is text', () => {
    fc.assert(
      fc.property(lengths, sizes => {
        expect(read(`see ${CALL}${CALL} <b>`, sizes)).toEqual({
          content: 'see  <b>',
          calls: [
            { name: 'f', arguments: '{"x":1}' },
            { name: 'f', arguments: '{"x":1}' },
          ],
        });
      }),
    );
  });

  it('that are none stay text', () => {
    const text = 'a <tool_call>not json</tool_call> <tool_call>{"na';
    expect(read(text, [3])).toEqual({ content: text, calls: [] });
  });
});

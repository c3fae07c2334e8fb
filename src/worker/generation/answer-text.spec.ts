import { describe, expect, it } from '@jest/globals';
import { type ToolForm } from '@switchyard/engine-api/text-backend.port.js';
import fc from 'fast-check';
import { answerReader } from './answer-reader.js';
import { AnswerText } from './answer-text.js';

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
    if (answer.stoppedBy !== undefined) break;
  }
  pieces.push(answer.flush());
  return {
    text: pieces.map(piece => piece.text).join(''),
    pieces,
    stopped: answer.stoppedBy !== undefined,
  };
}

const lengths = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 });
const words = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'ü', '😀', ' '), { maxLength: 20 })
  .map(list => list.join(''));

describe('the text of an answer', () => {
  it('is the same however it is cut into tokens', () => {
    fc.assert(fc.property(words, lengths, (text, sizes) => shown(text, sizes).text === text));
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
        const seen = tokens.map((_, at) => Buffer.concat(tokens.slice(0, at + 1)).toString());
        const at = seen.find(part => stop.some(mark => part.includes(mark)));
        const ends =
          at === undefined ? [] : stop.map(mark => at.indexOf(mark)).filter(index => index >= 0);
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
    expect(pieces.map(({ text, tokens }) => [text, tokens.map(({ offset }) => offset)])).toEqual([
      ['a', [0]],
      ['', []],
      ['😀', [1, 1]],
      ['b', [3]],
      ['', []],
    ]);
  });

  it('ends before a character that the model did not end', () => {
    const answer = new AnswerText();
    answer.take({ bytes: Buffer.from('😀').subarray(0, 2) });
    expect(answer.flush().text).toBe('');
  });
});

describe('thoughts of gpt-oss', () => {
  it('are told apart from what is said, however they are cut', () => {
    const text =
      '<|channel|>analysis<|message|>Hm, 2 < 3.<|end|><|start|>assistant<|channel|>final<|message|>Yes.';
    fc.assert(
      fc.property(lengths, sizes => {
        const reader = answerReader({ toolForm: 'gpt-oss' });
        const parts = [
          ...cut(text, sizes).map(bytes => reader.take(bytes.toString())),
          reader.flush(),
        ];
        expect([
          parts.map(({ reasoning }) => reasoning).join(''),
          parts.map(({ content }) => content).join(''),
        ]).toEqual(['Hm, 2 < 3.', 'Yes.']);
      }),
    );
  });

  it('leave an answer without headers as it is', () => {
    const reader = answerReader({ toolForm: 'gpt-oss' });
    expect(
      [reader.take('{"a"'), reader.take(': 1}'), reader.flush()].map(one => one.content),
    ).toEqual(['{"a"', ': 1}', '']);
  });
});

describe('calls of tools in a text', () => {
  const F = '{"name": "f", "arguments": {"x": 1}}';
  const XML =
    '<tool_call>\n<function=f>\n<parameter=x>\n1\n</parameter>\n<parameter=code>\n1\n\n2\n</parameter>\n' +
    '<parameter=list>\n[1, "a"]\n</parameter>\n</function>\n</tool_call>';
  const CALL = '<tool_call>{"name":"f","arguments":{"x":1}}</tool_call>';
  const read = (text: string, sizes: readonly number[], form?: ToolForm) => {
    const reader = answerReader({ toolForm: form, tools: { texts: ['f/code'] } });
    const parts = [...cut(text, sizes).map(bytes => reader.take(bytes.toString())), reader.flush()];
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

  it.each<[string, ToolForm, string, string]>([
    ['a list between marks', 'hermes', `<tool_call>[${F}, ${F}]</tool_call>`, ''],
    ['elements', 'qwen-xml', `so ${XML}\n${XML}`, 'so '],
    ['the answer alone', 'llama3', ` {"name": "f", "parameters": {"x": 1}}`, ''],
    [
      'a mark of Llama',
      'llama3',
      `<|python_tag|>{"name": "f", "parameters": {"x": 1}}; {"name": "f", "parameters": {"x": 1}}`,
      '',
    ],
    ['a list behind a mark', 'mistral', `ok[TOOL_CALLS] [${F}]`, 'ok'],
    [
      'arguments behind marks',
      'mistral-args',
      `[TOOL_CALLS]f[ARGS]{"x":1}[TOOL_CALLS]f[CALL_ID]a1[ARGS]{"x":1}`,
      '',
    ],
    [
      'messages of their own',
      'gpt-oss',
      '<|channel|>commentary<|message|>ok<|end|><|start|>assistant' +
        '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"x":1}<|call|>' +
        '<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{"x":1}',
      'ok',
    ],
  ])('are found as %s (%s), however they are cut', (_, form, text, content) => {
    fc.assert(
      fc.property(lengths, sizes => {
        const found = read(text, sizes, form);
        expect(found.content).toBe(content);
        expect(found.calls.length).toBeGreaterThan(0);
        for (const { name, arguments: given } of found.calls)
          expect([name, JSON.parse(given)]).toEqual(['f', expect.objectContaining({ x: 1 })]);
      }),
      { numRuns: 30 },
    );
  });

  it('hold texts and JSON apart where they stand in elements', () => {
    const [call] = read(XML, [4], 'qwen-xml').calls;
    expect(JSON.parse(call!.arguments)).toEqual({ x: 1, code: '1\n\n2', list: [1, 'a'] });
  });

  it.each<[ToolForm, string]>([
    ['llama3', '{"name of it": "x"} and so on'],
    ['llama3', '{ "na'],
    ['llama3', 'Use <|python_tag|>'],
    ['mistral', 'see [TOOL_CALLS] and [TOOL'],
    ['qwen-xml', '<tool_call><function=f>no end</tool_call>'],
  ])('that are none in the form %s stay text: %s', (form, text) => {
    expect(read(text, [3], form)).toEqual({ content: text, calls: [] });
  });

  it('that are none stay text', () => {
    const text = 'a <tool_call>not json</tool_call> <tool_call>{"na';
    expect(read(text, [3])).toEqual({ content: text, calls: [] });
  });
});

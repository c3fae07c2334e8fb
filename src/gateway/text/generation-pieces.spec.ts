import { describe, expect, it } from '@jest/globals';
import { argumentsIn, piecesOf, readAnswer, usageAmong } from './generation-pieces.js';

const piecesIn = (answer: unknown): unknown => piecesOf(Buffer.from(JSON.stringify(answer)));

describe('what a chat says', () => {
  it('is text, reasoning by either name, calls and the end of a chunk', () => {
    const call = { index: 1, id: 'call_1', function: { name: 'f', arguments: '{' } };
    const chunk = {
      delta: { content: 'a', reasoning: 'b', tool_calls: [call] },
      finish_reason: 'stop',
    };
    expect(piecesIn({ choices: [chunk] })).toEqual([
      { type: 'reasoning', text: 'b' },
      { type: 'text', text: 'a', logprobs: [] },
      { type: 'tool_call', index: 1, callId: 'call_1', name: 'f', arguments: '{' },
      { type: 'finish', reason: 'stop' },
    ]);
    expect(piecesIn({ choices: [{ delta: { reasoning_content: 'c' } }] })).toEqual([
      { type: 'reasoning', text: 'c' },
    ]);
  });

  it('is the same of a whole answer, whose calls are counted and whose tokens are known', () => {
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'f', arguments: { at: 1 } },
    };
    const usage = {
      prompt_tokens: 5,
      completion_tokens: 2,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 1 },
    };
    const message = {
      role: 'assistant',
      content: null,
      refusal: 'no',
      tool_calls: [call, call],
    };
    expect(piecesIn({ choices: [{ message, finish_reason: 'tool_calls' }], usage })).toEqual([
      { type: 'refusal', text: 'no' },
      {
        type: 'tool_call',
        index: 0,
        callId: 'call_1',
        name: 'f',
        arguments: '{"at":1}',
      },
      {
        type: 'tool_call',
        index: 1,
        callId: 'call_1',
        name: 'f',
        arguments: '{"at":1}',
      },
      { type: 'finish', reason: 'tool_calls' },
      {
        type: 'usage',
        usage: {
          input_tokens: 5,
          output_tokens: 2,
          total_tokens: 7,
          input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
          output_tokens_details: { reasoning_tokens: 1 },
        },
      },
    ]);
  });

  it.each([
    [null],
    [[]],
    [{}],
    [{ choices: 'no' }],
    [{ choices: [null] }],
    [{ choices: [{ delta: 3 }], usage: null }],
  ])('is nothing in %j', answer => {
    expect(piecesIn(answer)).toEqual([]);
  });
});

describe('details of an answer', () => {
  it.each([
    [{ text: 'a' }, [{ type: 'text', text: 'a', logprobs: [] }]],
    [
      { delta: { content: '' }, logprobs: { content: [{ token: 'a' }] } },
      [{ type: 'text', text: '', logprobs: [{ token: 'a' }] }],
    ],
    [
      { delta: { tool_calls: [{ id: '', function: {} }, { function: { name: '' } }] } },
      [
        { type: 'tool_call', index: 0, arguments: '' },
        { type: 'tool_call', index: 1, name: '', arguments: '' },
      ],
    ],
    [
      { finish_reason: 'stop', stop_reason: '#' },
      [{ type: 'finish', reason: 'stop', stopSequence: '#' }],
    ],
    [{ finish_reason: 'stop', stop_reason: 7 }, [{ type: 'finish', reason: 'stop' }]],
  ])('are what they are: %j', (choice, pieces) => {
    expect(piecesIn({ choices: [choice, { text: 'another choice' }] })).toEqual(pieces);
  });

  it.each([
    [1, 1],
    [0, 0],
    [-1, 0],
    [1.5, 0],
    ['7', 0],
  ])('count tokens as whole numbers: %j', (given, counted) => {
    const pieces = piecesOf(Buffer.from(JSON.stringify({ usage: { prompt_tokens: given } })));
    expect(usageAmong(pieces)).toMatchObject({ input_tokens: counted, total_tokens: counted });
    expect(usageAmong([])).toBeUndefined();
  });

  it('have the tokens of a chunk', () => {
    const tokensIn = (answer: object) => readAnswer(Buffer.from(JSON.stringify(answer))).tokens;
    expect(tokensIn({ choices: [{ token_ids: [1, 2] }] })).toEqual([1, 2]);
    expect(tokensIn({})).toEqual([]);
  });

  it('have arguments as far as they can be read', () => {
    expect([argumentsIn('{"a":1}'), argumentsIn('{"a"')]).toEqual([{ a: 1 }, {}]);
  });
});

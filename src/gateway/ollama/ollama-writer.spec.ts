import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DomainError } from '../../core/errors/domain-error.js';
import { type GenerationPiece } from '../text/generation-pieces.js';
import { OllamaWriter } from './ollama-writer.js';

const THOUGHT = { type: 'reasoning', text: 'hm' } as const;
const SAID = { type: 'text', text: 'Yes' } as const;
const callPiece = (index: number, name: string | undefined, json: string) =>
  ({ type: 'tool_call', index, ...(name !== undefined && { name }), arguments: json }) as const;
const USAGE = { type: 'usage', usage: { input_tokens: 5, output_tokens: 2 } } as GenerationPiece;
const AT = '2026-01-01T00:00:00.000Z';
const HEAD = { model: 'm', created_at: AT };
/** Nanoseconds. */
const NO_TIMES = { total_duration: 0, prompt_eval_duration: 0, eval_duration: 0, load_duration: 0 };
const NO_COUNTS = { prompt_eval_count: 0, eval_count: 0 };

beforeEach(() => void jest.useFakeTimers({ now: new Date(AT) }));
afterEach(() => void jest.useRealTimers());

describe('an answer of Ollama', () => {
  it.each([
    [true, [{ role: 'assistant', content: '', thinking: 'hm' }]],
    [false, []],
  ])('shows thoughts unless `think` is false: %j', (showsThoughts, messages) => {
    const writer = new OllamaWriter('chat', 'm', showsThoughts);
    expect(writer.take(THOUGHT)).toEqual(
      messages.map(message => ({ ...HEAD, message, done: false })),
    );
  });

  it('is a line for each piece of text, and one at its end', () => {
    const writer = new OllamaWriter('generate', 'm');
    expect(writer.begin()).toEqual([]);
    expect(writer.take(THOUGHT)).toEqual([{ ...HEAD, response: '', thinking: 'hm', done: false }]);
    const logprobs = [{ token: 'Yes' }];
    expect(writer.take({ ...SAID, logprobs })).toEqual([
      { ...HEAD, logprobs, response: 'Yes', done: false },
    ]);
    expect(writer.take({ type: 'refusal', text: ', no' })).toHaveLength(1);
    expect(writer.take({ type: 'text', text: '' })).toEqual([]);
    expect(writer.take(USAGE)).toEqual([]);
    expect(writer.take({ type: 'finish', reason: 'length' })).toEqual([]);
    const ending = {
      done: true,
      done_reason: 'length',
      ...NO_TIMES,
      prompt_eval_count: 5,
      eval_count: 2,
    };
    expect(writer.end()).toEqual([{ ...HEAD, response: '', ...ending }]);
    expect(writer.whole()).toEqual({
      ...HEAD,
      logprobs,
      response: 'Yes, no',
      thinking: 'hm',
      ...ending,
    });
  });

  it('has calls of tools complete, at the end', () => {
    const writer = new OllamaWriter('chat', 'm');
    for (const piece of [
      callPiece(0, 'f', '{"a"'),
      callPiece(1, 'g', '{}'),
      callPiece(0, undefined, ':1}'),
      callPiece(0, 'other', ''),
      { type: 'finish', reason: 'tool_calls' } as const,
    ])
      expect(writer.take(piece)).toEqual([]);
    const calls = [
      { function: { index: 0, name: 'f', arguments: { a: 1 } } },
      { function: { index: 1, name: 'g', arguments: {} } },
    ];
    const message = { role: 'assistant', content: '' };
    const ending = { done: true, done_reason: 'stop', ...NO_TIMES, ...NO_COUNTS };
    expect(writer.end()).toEqual([
      { ...HEAD, message: { ...message, tool_calls: calls }, done: false },
      { ...HEAD, message, ...ending },
    ]);
    expect(writer.whole()).toEqual({
      ...HEAD,
      message: { ...message, tool_calls: calls },
      ...ending,
    });
  });

  it('says how long the prompt and the answer took', () => {
    const writer = new OllamaWriter('chat', 'm');
    jest.advanceTimersByTime(30);
    writer.take(SAID);
    jest.advanceTimersByTime(20);
    writer.take(SAID);
    expect(writer.end().at(-1)).toMatchObject({
      total_duration: 50e6,
      prompt_eval_duration: 30e6,
      eval_duration: 20e6,
    });
    const silent = new OllamaWriter('chat', 'm');
    jest.advanceTimersByTime(10);
    expect(silent.whole()).toMatchObject({ prompt_eval_duration: 10e6, eval_duration: 0 });
  });

  it('is one line each, also of a failure and of a model that was only loaded', () => {
    const writer = new OllamaWriter('generate', 'm');
    expect(writer.frame({ a: 1 })).toBe('{"a":1}\n');
    expect(writer.fail(new DomainError('engine_failed', 'no'))).toEqual([{ error: 'no' }]);
    expect(writer.loaded).toEqual({ ...HEAD, response: '', done: true, done_reason: 'load' });
  });
});

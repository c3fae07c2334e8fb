import { describe, expect, it } from '@jest/globals';
import { type ModelCatalog } from '../models/model-catalog.js';
import { affinityOf, beginningOfChat, parseChat, parseCompletion } from './parse-generation.js';

const model = { id: 'm', kind: 'llm', engine: 'synthetic', capabilities: [] };
const catalog = { getOfKind: () => model } as unknown as ModelCatalog;
const beginningOfPrompt = (prompt: unknown): string =>
  parseCompletion({ model: 'm', prompt }, catalog).generation.beginning;
const message = (role: string, content: unknown) => ({ role, content });

describe('how a prompt begins', () => {
  it('is the same for all turns of a conversation, and another for another', () => {
    const first = [message('system', 'be short'), message('user', 'who are you?')];
    const later = [...first, message('assistant', 'a switchyard'), message('user', 'why?')];
    expect(beginningOfChat(later)).toBe(beginningOfChat(first));
    expect(beginningOfChat([first[0], message('user', 'what now?')])).not.toBe(
      beginningOfChat(first),
    );
  });

  it('reads text parts, and passes over what is no text', () => {
    const parts = [{ type: 'image_url' }, null, { type: 'text', text: 'hi' }];
    expect(beginningOfChat([message('user', parts)])).toBe('user:hi');
    expect(beginningOfChat([{ role: 'assistant' }])).toBe('assistant:');
  });

  it('is a bounded part of a text, a list of texts or tokens', () => {
    expect(beginningOfPrompt('x'.repeat(10_000))).toHaveLength(512);
    expect(beginningOfPrompt(['ab', 'cd'])).toBe('ab');
    expect(beginningOfPrompt([1, 2])).toBe('1,2');
    expect(beginningOfPrompt([[1, 2], [3]])).toBe('1,2');
  });

  it('is never shared by two tenants', () => {
    expect(affinityOf('a', 'x')).toBe(affinityOf('a', 'x'));
    expect(affinityOf('a', 'x')).not.toBe(affinityOf('b', 'x'));
  });
});

const chat = (fields: object, spec: object = {}, strict = false) => {
  const able = { getOfKind: () => ({ ...model, ...spec }), namesAble: () => 'none' };
  const body = { model: 'm', messages: [message('user', 'hi')], ...fields };
  return parseChat(body, able as unknown as ModelCatalog, { strict });
};
const refusal = (param: string) => expect.objectContaining({ param });

describe('a chat', () => {
  it.each([
    [{}, 0, 1],
    [{ max_tokens: 5, n: 2 }, 5, 2],
    [{ max_tokens: 5, max_completion_tokens: 7 }, 7, 1],
  ])('has a bound of tokens and choices: %j', (fields, maxTokens, n) => {
    expect(chat(fields).generation.task).toEqual({ form: 'chat', maxTokens, n });
  });

  it.each([
    [{ messages: [] }, 'messages'],
    [{ messages: [message('user', 'hi'), 'hi'] }, 'messages[1]'],
    [{ messages: [null] }, 'messages[0]'],
    [{ messages: [[]] }, 'messages[0]'],
    [{ messages: [{}] }, 'messages[0].role'],
    [{ messages: [message('', 'hi')] }, 'messages[0].role'],
    [{ messages: [{ role: null }] }, 'messages[0].role'],
    [{ messages: [{ role: 7 }] }, 'messages[0].role'],
    [{ stream_options: {} }, 'stream_options'],
    [{ stream: true, stream_options: { include_usage: 7 } }, 'stream_options.include_usage'],
    [{ top_logprobs: 2 }, 'top_logprobs'],
    [{ tools: [{ type: 'function', function: { name: 'f' } }] }, 'tools'],
  ])('is refused with the field at fault: %j', (fields, param) => {
    expect(() => chat(fields)).toThrow(refusal(param));
  });

  it.each([
    ['missing_required_parameter', undefined],
    ['missing_required_parameter', null],
    ['missing_required_parameter', ''],
    ['invalid_value', 7],
  ])('needs roles: %s', (code, role) => {
    expect(() => chat({ messages: [{ role }] })).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    [{ stream: true, stream_options: {} }],
    [{ stream: true, stream_options: { include_usage: null } }],
    [{ stream: true, stream_options: { include_usage: true } }],
    [{ tools: [] }],
  ])('may have %j', fields => {
    expect(chat(fields).ignored).toEqual([]);
  });

  it('has tools of a model that knows them, or of a server that may', () => {
    const served = { type: 'function', function: { name: 'f' } };
    const unserved = { type: 'code_interpreter' };
    const able = { capabilities: ['tools', 'logprobs'] };
    expect(chat({ tools: [served] }, able).ignored).toEqual([]);
    expect(chat({ tools: [unserved] }).ignored).toEqual(['tools[0]']);
    expect(chat({ logprobs: true, top_logprobs: 2 }, able).ignored).toEqual([]);
    const passed = { engine: 'openai-http' };
    expect(() => chat({ tools: [unserved] }, passed)).toThrow(refusal('tools'));
    expect(chat({ tools: [unserved] }, { ...passed, ...able }).ignored).toEqual([]);
  });
});

describe('a completion', () => {
  const completion = (fields: object) =>
    parseCompletion({ model: 'm', prompt: 'a', ...fields }, catalog).generation.task;

  it.each([
    [{}, 0, 1],
    [{ max_tokens: 5, n: 2, prompt: ['a', 'b'] }, 5, 4],
    [{ prompt: Array(1024).fill('a'), n: 2 }, 0, 2048],
  ])('has choices for each prompt', (fields, maxTokens, n) => {
    expect(completion(fields)).toEqual({ form: 'completion', maxTokens, n });
  });

  it('has a bound of choices', () => {
    expect(() => completion({ prompt: Array(1025).fill('a'), n: 2 })).toThrow(
      'at most 1024 prompts with `n` 2; got 1025',
    );
    expect(() => completion({ stream_options: {} })).toThrow(refusal('stream_options'));
  });
});

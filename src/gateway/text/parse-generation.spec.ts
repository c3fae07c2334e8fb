import { describe, expect, it } from '@jest/globals';
import { type ModelCatalog } from '../models/model-catalog.js';
import { affinityOf, beginningOfChat, parseCompletion } from './parse-generation.js';

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

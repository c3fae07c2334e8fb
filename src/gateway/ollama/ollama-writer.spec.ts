import { describe, expect, it } from '@jest/globals';
import { OllamaWriter } from './ollama-writer.js';

const THOUGHT = { type: 'reasoning', text: 'hm' } as const;

describe('thoughts of an answer of Ollama', () => {
  it.each([
    [true, 1],
    [false, 0],
  ])('are shown unless `think` is false: %j', (showsThoughts, lines) => {
    const writer = new OllamaWriter('chat', 'm', showsThoughts);
    expect(writer.take(THOUGHT)).toHaveLength(lines);
  });
});

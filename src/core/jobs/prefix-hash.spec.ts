import { describe, expect, it } from '@jest/globals';
import { fnv32a, prefixHash } from './prefix-hash.js';

describe('fnv32a', () => {
  // Published test vectors of FNV-1a, 32 bit.
  it.each([
    ['', 0x811c9dc5],
    ['a', 0xe40c292c],
    ['foobar', 0xbf9cf968],
  ])('hashes %j to %d', (text, hash) => expect(fnv32a(text)).toBe(hash));
});

describe('prefixHash', () => {
  const chat = (...messages: unknown[]) => ({ messages });

  it('is that of the system prompt, a string or content parts', () => {
    const system = { role: 'system', content: 'Be brief.' };
    const user = { role: 'user', content: 'Hi' };
    expect(prefixHash(chat(system, user))).toBe(fnv32a('Be brief.'));
    expect(prefixHash(chat({ ...system, content: [{ type: 'text', text: 'Be brief.' }] }))).toBe(
      fnv32a('Be brief.'),
    );
    expect(prefixHash(chat({ ...system, role: 'developer' }))).toBe(fnv32a('Be brief.'));
  });

  it('is that of the instructions, or of the input, of a response', () => {
    expect(prefixHash({ instructions: 'Be brief.', input: 'Hi' })).toBe(fnv32a('Be brief.'));
    expect(prefixHash({ input: [{ role: 'system', content: 'Be brief.' }] })).toBe(
      fnv32a('Be brief.'),
    );
    expect(prefixHash({ input: 'Be brief.' })).toBe(0);
  });

  it.each([
    ['no messages', {}],
    ['no system message', chat({ role: 'user', content: 'Be brief.' })],
    ['an empty prompt', chat({ role: 'system', content: '' })],
    [
      'parts without text',
      chat({ role: 'system', content: [{ type: 'image_url', image_url: {} }] }),
    ],
    ['messages that are none', { messages: 'system' }],
    ['a null message', chat(null)],
    ['no object at all', 7],
  ])('is 0 with %s', (_, body) => expect(prefixHash(body)).toBe(0));
});

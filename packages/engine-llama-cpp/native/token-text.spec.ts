import { describe, expect, it } from '@jest/globals';
import { pieceOf, TOKEN } from './token-text.js';

const [SENTENCE_PIECE, BYTE_LEVEL] = [1, 2];

describe('pieceOf', () => {
  it.each([
    ['\u2581word', TOKEN.normal, SENTENCE_PIECE, ' word'],
    ['<0x41>', TOKEN.byte, SENTENCE_PIECE, 'A'],
    ['\u0120word', TOKEN.normal, BYTE_LEVEL, ' word'],
    ['<tool_call>', TOKEN.userDefined, BYTE_LEVEL, '<tool_call>'],
    ['<|im_end|>', TOKEN.control, BYTE_LEVEL, ''],
    ['<unk>', TOKEN.unknown, SENTENCE_PIECE, ''],
  ])('of %j is what the model says by it', (text, attributes, vocabulary, said) => {
    expect(pieceOf(text, attributes, vocabulary).toString()).toBe(said);
  });

  it('keeps half of a character as the bytes that it is', () => {
    // The first two of the three bytes of the euro sign, as GPT-2 writes them.
    expect([...pieceOf('\u00e2\u0124', TOKEN.normal, BYTE_LEVEL)]).toEqual([0xe2, 0x82]);
    expect([...pieceOf('<0xE2>', TOKEN.byte, SENTENCE_PIECE)]).toEqual([0xe2]);
  });
});

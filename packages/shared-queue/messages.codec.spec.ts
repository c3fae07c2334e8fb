import { describe, expect, it } from '@jest/globals';
import { decodeSpeechPiece, encodeSpeechPiece } from './messages.codec.js';

const head = { blob: 'plane/speech/1', offset: 7, contentType: 'audio/wav', sampleRate: 24_000 };

describe('a piece of speech', () => {
  it('is read as it was written, byte by byte', () => {
    const piece = { ...head, bytes: Buffer.from([0, 255, 10, 13]) };
    expect(decodeSpeechPiece(encodeSpeechPiece(piece))).toEqual(piece);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a length beyond its end', Buffer.from([0, 0, 1, 0, 123])],
    ['no JSON', Buffer.from([0, 0, 0, 1, 123])],
    ['another shape', Buffer.from('\0\0\0\x02{}')],
  ])('is none: %s', (_, message) => {
    expect(decodeSpeechPiece(message)).toBeUndefined();
  });
});

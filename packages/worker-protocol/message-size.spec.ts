import { describe, expect, it } from '@jest/globals';
import { maxMessageBytes, maxWholeAudioBytes } from './message-size.js';

describe('the size of messages', () => {
  it('leaves 9 MiB for voices and text beside the largest upload in a gRPC message, up to 32 MiB of audio', () => {
    expect(maxMessageBytes(26_214_400)).toBe(35_651_584);
    expect(maxMessageBytes(1_073_741_824)).toBe(41 * 1_048_576);
    expect(maxWholeAudioBytes(maxMessageBytes(1000))).toBe(1000);
  });
});

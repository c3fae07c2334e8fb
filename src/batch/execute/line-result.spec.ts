import { describe, expect, it } from '@jest/globals';
import { lineUsage } from './line-result.js';

describe('lineUsage', () => {
  it('reads both spellings with their details, and nothing from audio seconds', () => {
    expect(
      lineUsage({
        usage: {
          prompt_tokens: 5,
          completion_tokens: 7,
          prompt_tokens_details: { cached_tokens: 2 },
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      }),
    ).toEqual({ inputTokens: 5, outputTokens: 7, cachedTokens: 2, reasoningTokens: 3 });
    expect(lineUsage({ usage: { input_tokens: 5, output_tokens: 0 } })).toMatchObject({
      inputTokens: 5,
      outputTokens: 0,
    });
    for (const body of [null, 'text', {}, { usage: { type: 'duration', seconds: 3 } }])
      expect(lineUsage(body)).toBeUndefined();
  });
});

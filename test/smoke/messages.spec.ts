import Anthropic from '@anthropic-ai/sdk';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { embeddedProduct } from './products.js';

describe('messages, by the official Anthropic SDK', () => {
  let client: Anthropic;
  beforeAll(async () => {
    const { url } = await embeddedProduct();
    client = new Anthropic({ baseURL: url, apiKey: 'unused', maxRetries: 0 });
  });

  it('are the same whole and as events', async () => {
    const messages = [{ role: 'user' as const, content: 'one two three' }];
    const asked = { model: 'llm', max_tokens: 8, messages };
    const { content, stop_reason, usage } = await client.messages.create(asked);
    expect([stop_reason, content]).toEqual([
      'max_tokens',
      [expect.objectContaining({ type: 'text', text: expect.stringContaining('two') })],
    ]);
    const streamed = await client.messages.stream(asked).finalMessage();
    expect(streamed.content).toEqual(content);
    expect(streamed.usage.output_tokens).toBe(usage.output_tokens);
  });
});

import { beforeAll, describe, expect, it } from '@jest/globals';
import type OpenAI from 'openai';
import { openaiAt } from '../support/openai-at.js';
import { until } from '../support/waiting.js';
import { embeddedProduct } from './products.js';

const asked = { model: 'llm', input: 'one two three' };

describe('responses, by the official OpenAI SDK', () => {
  let openai: OpenAI;
  beforeAll(async () => {
    openai = openaiAt((await embeddedProduct()).url);
  });

  it('are the same whole and as events, and continue', async () => {
    const whole = await openai.responses.create(asked);
    expect([whole.status, whole.output_text]).toEqual([
      'completed',
      expect.stringContaining('two'),
    ]);
    let streamed = '';
    for await (const event of await openai.responses.create({ ...asked, stream: true }))
      if (event.type === 'response.output_text.delta') streamed += event.delta;
    expect(streamed).toBe(whole.output_text);
    const next = await openai.responses.create({ ...asked, previous_response_id: whole.id });
    expect([next.previous_response_id, next.status]).toEqual([whole.id, 'completed']);
  });

  it('run in the background and are retrieved', async () => {
    const { id, status } = await openai.responses.create({ ...asked, background: true });
    expect(['queued', 'in_progress']).toContain(status);
    let response: OpenAI.Responses.Response | undefined;
    await until(async () => {
      response = await openai.responses.retrieve(id);
      return response.status === 'completed';
    });
    expect(response!.output_text).toContain('two');
  });
});

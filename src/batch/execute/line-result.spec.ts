import { describe, expect, it } from '@jest/globals';
import { type Answer } from './line-reply.js';
import { lineUsage, resultOf } from './line-result.js';

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

describe('the result of a line', () => {
  const result = (endpoint: string, status: number, contentType: string, body: string) => {
    const job = { id: 'batch_1', tenant: 't', endpoint };
    const answer = { kind: 'answer', status, contentType, body: Buffer.from(body), requestId: 'r' };
    const settling = { claim: { job }, parts: { customIdJson: '"a"' }, wantsBase64: true };
    return resultOf(answer as Answer, settling as never);
  };
  const SPEECH = '/v1/audio/speech';

  it.each([
    [SPEECH, 200, 'audio/wav', 'RIFF', 'O', Buffer.from('RIFF').toString('base64')],
    [SPEECH, 400, 'application/json', '{"error":{}}', 'E', '{"error":{}}'],
    [SPEECH, 500, 'audio/wav', '"RIFF"', 'E', '"RIFF"'],
    ['/v1/chat/completions', 200, 'application/json', '{"id":1}', 'O', '{"id":1}'],
    ['/v1/audio/transcriptions', 200, 'text/vtt', 'WEBVTT', 'O', '"WEBVTT"'],
    ['/v1/audio/transcriptions', 200, 'text/plain', '42\n', 'O', '"42\\n"'],
  ])(
    'of %s with %d and %s %s is in the file %s as %s',
    async (endpoint, status, type, body, kind, text) => {
      const { kind: file, line } = await result(endpoint, status, type, body);
      expect([file, String(line)]).toEqual([kind, expect.stringContaining(text)]);
    },
  );
});

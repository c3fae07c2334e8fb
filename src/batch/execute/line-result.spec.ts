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
    expect(lineUsage({ usage: { prompt_tokens: 1 } })).toEqual({
      ...{ inputTokens: 1, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
    });
    expect(
      lineUsage({
        usage: {
          ...{ output_tokens: 4, input_tokens_details: { cached_tokens: 1 } },
          output_tokens_details: { reasoning_tokens: 2 },
        },
      }),
    ).toEqual({ inputTokens: 0, outputTokens: 4, cachedTokens: 1, reasoningTokens: 2 });
    expect(lineUsage({ usage: { prompt_tokens: 0 } })).toMatchObject({ inputTokens: 0 });
    for (const tokens of [-1, 0.5, '3', null])
      expect(lineUsage({ usage: { prompt_tokens: tokens } })).toBeUndefined();
    for (const body of [null, 'text', {}, { usage: { type: 'duration', seconds: 3 } }])
      expect(lineUsage(body)).toBeUndefined();
  });
});

describe('the result of a line', () => {
  const result = (
    endpoint: string,
    status: number,
    contentType: string,
    body: string,
    more: object = {},
  ) => {
    const job = { id: 'batch_1', tenant: 't', endpoint };
    const answer = { kind: 'answer', status, contentType, body: Buffer.from(body), requestId: 'r' };
    const settling = { claim: { job }, parts: { customIdJson: '"a"' }, wantsBase64: true, ...more };
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

  it('of an endpoint with an empty answer is null', async () => {
    const { line } = await result('/v1/embeddings', 204, '', '');
    expect(String(line)).toContain('"body":null');
  });

  it.each([
    [{ kind: 'too_large', message: 'm' }, 'response_too_large'],
    [{ kind: 'transport', cause: 'refused', message: 'm' }, 'connection_refused'],
    [{ kind: 'transport', cause: 'lost', message: 'm' }, 'connection_lost'],
    [{ kind: 'transport', cause: 'timeout', message: 'm' }, 'request_timeout'],
  ] as const)('without an answer is an error line: %j', async (answer, code) => {
    const settling = { parts: { customIdJson: '"a"' } } as never;
    const { kind, line } = await resultOf(answer, settling);
    expect([kind, JSON.parse(String(line))]).toEqual([
      'E',
      expect.objectContaining({ custom_id: 'a', response: null, error: { code, message: 'm' } }),
    ]);
  });

  it('has the tokens that its answer says', async () => {
    const body = '{"usage":{"prompt_tokens":3}}';
    const { usage } = await result('/v1/embeddings', 200, 'application/json', body);
    expect(usage).toMatchObject({ inputTokens: 3 });
  });

  it.each([
    ['audio/mpeg', 'a_b.mp3'],
    ['audio/wav', 'a_b.wav'],
    ['audio/flac', 'a_b.flac'],
    ['audio/ogg', 'a_b.opus'],
    ['audio/opus', 'a_b.opus'],
    ['audio/aac', 'a_b.aac'],
    ['audio/pcm', 'a_b.bin'],
  ])('of speech as %s is stored as %s', async (type, expected) => {
    const saved: unknown[] = [];
    const files = {
      save: async (_: unknown, name: string, open: () => AsyncIterable<Uint8Array>) => {
        saved.push(name, Buffer.concat(await Array.fromAsync(open())).toString());
        return { id: 'file-1' };
      },
    };
    const parts = { customIdJson: '"a/b"' };
    const more = { wantsBase64: false, files, parts };
    const { kind, line } = await result(SPEECH, 200, type, 'RIFF', more);
    expect([kind, saved]).toEqual(['O', [expected, 'RIFF']]);
    const { response } = JSON.parse(String(line)) as { response: { body: object } };
    expect(response.body).toEqual({ file_id: 'file-1', bytes: 4, content_type: type });
  });
});

import { describe, expect, it } from '@jest/globals';
import { problemIn } from './upstream-failure.js';

describe('problemIn', () => {
  it.each([
    [
      "FastAPI's list",
      '{"detail":[{"loc":["body","speed"],"msg":"too fast"},{"msg":"late"}]}',
      'speed: too fast; late',
    ],
    ["FastAPI's text", '{"detail":"Model not loaded"}', 'Model not loaded'],
    [
      "vLLM's bare error",
      '{"object":"error","message":"No.","param":null,"code":400}',
      'No.',
    ],
    ['an error that is a text', '{"error":"Out of memory"}', 'Out of memory'],
    ['plain text', 'upstream\n  request  timeout\n', 'upstream request timeout'],
    ["a proxy's page", '<html><body>502 Bad Gateway</body></html>', ''],
    ['nothing', '', ''],
    ['JSON that says nothing', '[null]', ''],
  ])('reads %s', (_title, body, message) => {
    expect(problemIn(body, undefined)).toEqual({
      message,
      param: undefined,
      code: undefined,
    });
  });

  it("reads OpenAI's error with its code and field", () => {
    const body = '{"error":{"message":"No.","param":"file","code":"bad"}}';
    expect(problemIn(body, undefined)).toEqual({
      message: 'No.',
      param: 'file',
      code: 'bad',
    });
  });

  it('strikes the key out wherever it stands, before the text is cut at 500 characters', () => {
    const { message } = problemIn(`${'x'.repeat(495)} sk-key sk-key`, 'sk-key');
    expect(message).toBe(`${'x'.repeat(495)} *** `);
    expect(
      problemIn('{"error":{"message":"key sk-key is wrong"}}', 'sk-key').message,
    ).toBe('key *** is wrong');
  });
});

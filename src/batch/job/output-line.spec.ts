import { describe, expect, it } from '@jest/globals';
import { answerLine, errorLine } from './output-line.js';

describe('output lines', () => {
  it('hold the answer’s JSON as it came, on one line', () => {
    const body = '{\r\n "n": 12345678901234567890\n}';
    const line = answerLine('"a"', 200, 'r', body);
    expect(line).toContain('"body":{  "n": 12345678901234567890 }');
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({
      custom_id: 'a',
      response: { status_code: 200, request_id: 'r' },
      error: null,
    });
  });

  it('of lines without an answer have a null response', () => {
    expect(JSON.parse(errorLine('a', { code: 'batch_expired', message: 'm' }))).toEqual({
      id: expect.stringMatching(/^batch_req_[0-9a-f]{32}$/),
      custom_id: 'a',
      response: null,
      error: { code: 'batch_expired', message: 'm' },
    });
  });
});

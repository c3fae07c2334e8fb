import { describe, expect, it } from '@jest/globals';
import { validateLine } from './line-validation.js';
import { fnv32a } from './prefix-hash.js';

const GOOD = {
  custom_id: 'a',
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: 'm', messages: [{ role: 'system', content: 'Be brief.' }] },
};
const context = {
  line: 7,
  endpoint: '/v1/chat/completions',
  seen: (id: string) => id === 'twice',
} as const;
const streaming = (field: string) => ['unsupported_parameter', `body.${field}`] as const;
const check = (change: object) => validateLine(JSON.stringify({ ...GOOD, ...change }), context);

describe('validateLine', () => {
  it('takes a good line: its name, its model, the hash of its system prompt', () => {
    expect(check({})).toEqual({
      ok: true,
      customId: 'a',
      model: 'm',
      prefixHash: fnv32a('Be brief.'),
    });
  });

  it('accepts fields it does not know, and stream: false', () => {
    for (const stream of [false, 'false', 0, null, { toString: null }])
      expect(check({ extra: 1, body: { model: 'm', stream, new_field: [] } }).ok).toBe(true);
  });

  it.each([
    ['not JSON', '{"custom_id":', 'invalid_json_line', null],
    ['no object', '[1]', 'invalid_json_line', null],
    ['a number', '7', 'invalid_json_line', null],
    ['blank', '  ', 'empty_line', null],
    [
      'nested 1100 levels',
      JSON.stringify(GOOD).replace('[{', `${'['.repeat(1100)}[{`),
      'invalid_json_line',
      null,
    ],
    [
      'of 200,000 objects',
      JSON.stringify(GOOD).replace('[{', `[${'{},'.repeat(200_000)}{`),
      'invalid_json_line',
      null,
    ],
  ])('names the line that is %s', (_, text, code, param) => {
    expect(validateLine(text, context)).toMatchObject({
      ok: false,
      problem: { code, param, line: 7 },
    });
  });

  it.each([
    ['no custom_id', { custom_id: undefined }, 'missing_required_parameter', 'custom_id'],
    ['an empty custom_id', { custom_id: '' }, 'missing_required_parameter', 'custom_id'],
    ['a numeric custom_id', { custom_id: 7 }, 'missing_required_parameter', 'custom_id'],
    ['a custom_id of 513 characters', { custom_id: 'x'.repeat(513) }, 'invalid_value', 'custom_id'],
    ['a custom_id seen before', { custom_id: 'twice' }, 'duplicate_custom_id', 'custom_id'],
    ['another method', { method: 'GET' }, 'invalid_method', 'method'],
    ['another url', { url: '/v1/embeddings' }, 'mismatched_url', 'url'],
    ['no url', { url: undefined }, 'mismatched_url', 'url'],
    ['no body', { body: undefined }, 'missing_required_parameter', 'body'],
    ['an array as body', { body: [] }, 'missing_required_parameter', 'body'],
    ['no model', { body: {} }, 'missing_required_parameter', 'body.model'],
    ['stream: true', { body: { model: 'm', stream: true } }, ...streaming('stream')],
    ['stream of a form', { body: { model: 'm', stream: 'True' } }, ...streaming('stream')],
    ['stream in a list', { body: { model: 'm', stream: ['1'] } }, ...streaming('stream')],
    [
      'speech in events',
      { body: { model: 'm', stream_format: 'sse' } },
      ...streaming('stream_format'),
    ],
    [
      'an answer that comes later',
      { body: { model: 'm', background: true } },
      ...streaming('background'),
    ],
  ])('refuses %s and names the field', (_, change, code, param) => {
    expect(check(change)).toMatchObject({ ok: false, problem: { code, param, line: 7 } });
  });

  it('keeps a usable custom_id of a bad line, for the error file', () => {
    expect(check({ method: 'GET' })).toMatchObject({ customId: 'a' });
    expect(check({ custom_id: '' })).not.toHaveProperty('customId');
  });
});

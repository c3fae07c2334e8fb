import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { protectSecrets, redacted } from './redaction.js';
import { SETTING_PATHS } from './settings.js';

const V = 'planted-0a1b';
const LEAK = /planted/;

describe('the redactor', () => {
  const places = {
    'a field': { api_key: V, password: V, clientSecret: V, nested: { 'x-auth-token': V } },
    'every header of a model': { headers: { 'x-api-key': V, 'x-tenant-code': V }, after: 'stays' },
    'an argument and its value': ['server', '--token', V, '--api-key', V, '--port', '80'],
    'arguments by their usual short names': ['server', '--auth', V, '-pass', V, `--pwd=${V}`],
    'every variable of a replica': { env: { FOO_PW: V, LICENCE: V }, after: 'stays' },
    'an argument with its value': ['server', `--token=${V}`, `--hf-secret=${V}`],
    'a header in an argument': [
      'curl',
      '-H',
      `X-API-Key: ${V} ${V}`,
      '-H',
      `Authorization: Token ${V}`,
    ],
    'a password in an address': `redis://user:${V}@host:6379/0 and postgres://:${V}@db/x`,
    'a query of an address': `https://host/p?a=1&key=${V}&X-Amz-Signature=${V} https://host?access_token=${V}#${1}`,
    'an assignment': `HF_TOKEN=${V} APP_PASSWORD="${V}"`,
    'a bearer token': `Authorization: Bearer ${V}`,
    'a key by its form': `sk-switchyard-${V}${V}`,
  };

  it.each(Object.entries(places))(
    'removes %s, as JSON, as JSON in JSON and as Node prints it',
    (_place, value) => {
      const json = JSON.stringify(value);
      for (const text of [
        json,
        JSON.stringify(value, null, 2),
        JSON.stringify({ msg: json }),
        inspect(value),
      ])
        expect(redacted(text)).not.toMatch(LEAK);
      expect(() => JSON.parse(redacted(json)) as unknown).not.toThrow();
      expect(() => JSON.parse(redacted(JSON.stringify({ msg: json }))) as unknown).not.toThrow();
    },
  );

  it.each(SETTING_PATHS)('removes addresses with passwords and keys from %s', path => {
    const text = JSON.stringify({
      [path]: `https://user:${V}@host/p?api_key=${V}&key=${V}`,
    });
    expect(redacted(text)).not.toMatch(LEAK);
  });

  it('removes an announced secret wherever it is, and the password of an address as its client sends it', () => {
    protectSecrets(['only/announced"value', 'redis://:pl%40nted-word@host']);
    const error = Object.assign(new Error('WRONGPASS'), {
      command: { name: 'auth', args: ['default', 'pl@nted-word'] },
    });
    expect(redacted(inspect(error))).not.toContain('nted-word');
    expect(redacted(JSON.stringify({ a: 'only/announced"value' }))).toBe('{"a":"[redacted]"}');
  });

  it('keeps what helps: names, places, counts and text', () => {
    const text = JSON.stringify({
      max_tokens: 16,
      'auth.token_secret_file': '/run/secrets/x',
      api_key_name: 'upstream',
      tokenizer: 'bpe',
      'auth.keys_file': 'keys.yaml',
      keyId: 'key_1',
      url: 'http://127.0.0.1:8000/v1?model=x',
      msg: 'A worker is ready; tokens_per_minute=60',
    });
    expect(redacted(text)).toBe(text);
  });

  it('takes time in proportion to a line of 64 KiB of letters', () => {
    const line = `${'a'.repeat(65_536)} token`;
    expect(redacted(line)).toBe(line);
  });
});

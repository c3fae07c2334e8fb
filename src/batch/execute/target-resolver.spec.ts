import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { ConfigError } from '../../platform/config/yaml-file.js';
import { TargetResolver, readTargetsFile } from './target-resolver.js';

const folder = temporaryFolder();
const path = join(folder, 'targets.yaml');
writeFileSync(join(folder, 'key-a'), 'sk-a\n');
const TIMES = 'request_timeout: 5m, max_retries: 3, initial_backoff: 500ms, max_backoff: 1h';

function read(text: string) {
  writeFileSync(path, text);
  return readTargetsFile({ path, secretsDir: folder });
}

function problemsOf(text: string) {
  try {
    read(text);
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map(({ path: at, message }) => `${at}: ${message}`);
    throw error;
  }
  return [];
}

describe('the targets file', () => {
  it('names one target for all models, with times, retries, key and TLS', () => {
    const targets = read(
      `global_inference_gateway: { url: "https://h:1/x/", ${TIMES}, api_key_name: key-a, ` +
        'tls_insecure_skip_verify: true }',
    );
    if (targets.kind !== 'global') throw new Error('not global');
    expect(targets.target).toMatchObject({
      urls: ['https://h:1/x'],
      requestTimeoutMs: 300_000,
      retries: { attempts: 4, initialMs: 500, maxMs: 3_600_000 },
      tls: { insecureSkipVerify: true },
    });
    expect(targets.target.authorization({ tenant: 't' })).toBe('Bearer sk-a');
  });

  it('names one per model; equal entries share their connections, and an unlisted model has none', () => {
    const entry = `{ url: "http://h:1", ${TIMES} }`;
    const resolver = new TargetResolver(
      read(`model_gateways: { a: ${entry}, b: ${entry}, c: { url: "http://h:2", ${TIMES} } }`),
      { concurrencyPerModel: 1 },
    );
    expect(resolver.targetOf('a')).toBe(resolver.targetOf('b'));
    expect(resolver.targetOf('a')).not.toBe(resolver.targetOf('c'));
    expect(resolver.targetOf('d')).toBeUndefined();
    resolver.onApplicationShutdown();
  });

  it.each([
    ['{}', 'global_inference_gateway: exactly one of'],
    [`global_inference_gateway: {}\nmodel_gateways: {}`, 'exactly one of'],
    ['other: 1', 'other: no such field; known: global_inference_gateway, model_gateways'],
    [
      'model_gateways: { m: { url: "http://h" } }',
      'model_gateways.m.request_timeout: is missing; must be a duration',
    ],
    [
      `model_gateways: { m: { url: "ftp://h", ${TIMES} } }`,
      'model_gateways.m.url: must be one or several comma-separated http',
    ],
    [
      `model_gateways: { m: { url: "http://h", ${TIMES.replace('5m', '5 minutes')} } }`,
      'model_gateways.m.request_timeout: must be a duration',
    ],
    [
      `model_gateways: { m: { url: "http://h", ${TIMES}, api_key_name: nope } }`,
      'cannot be read (ENOENT)',
    ],
    [
      `model_gateways: { m: { url: "http://h", ${TIMES}, api_key_name: a, api_key_file: b } }`,
      'mutually exclusive',
    ],
    [
      `model_gateways: { m: { url: "http://h", ${TIMES}, retries: 3 } }`,
      'model_gateways.m.retries: no such field',
    ],
    [
      `model_gateways: { m: { url: "http://h", ${TIMES.replace('3', '-1')} } }`,
      'model_gateways.m.max_retries: must be a whole number from 0',
    ],
  ])('refuses %s', (text, message) => {
    expect(problemsOf(text).join('\n')).toContain(message);
  });
});

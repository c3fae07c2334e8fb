import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, jest } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { type ProcessorLink } from '../../platform/config/processor-link.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { ConfigError } from '../../platform/config/yaml-file.js';
import { LineTarget } from './line-target.js';
import { TargetResolver, readTargetsFile, targetResolver } from './target-resolver.js';

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

  it.each([
    ['max_retries: 3', 'max_retries: 0', { retries: { attempts: 1 } }],
    ['5m', '250ms', { requestTimeoutMs: 250 }],
    ['5m', '1.5s', { requestTimeoutMs: 1500 }],
    ['request_timeout', 'tls_ca_cert_file: c, request_timeout', { tls: { caCertFile: 'c' } }],
    [
      'request_timeout',
      'tls_client_cert_file: c, request_timeout',
      { tls: { clientCertFile: 'c' } },
    ],
    ['request_timeout', 'tls_client_key_file: k, request_timeout', { tls: { clientKeyFile: 'k' } }],
  ])('has for %s: %s', (before, after, expected) => {
    const targets = read(
      `global_inference_gateway: { url: " http://a:1// ,http://b", ${TIMES.replace(before, after)} }`,
    );
    if (targets.kind !== 'global') throw new Error('not global');
    const { target } = targets;
    expect(target).toMatchObject({ ...expected, urls: ['http://a:1', 'http://b'] });
    expect([target.fetchesFileUrl, target.authorization({ tenant: 't' })]).toEqual([
      false,
      undefined,
    ]);
    expect(target.tls.insecureSkipVerify).toBe(false);
  });

  it('names one per model; equal entries share their connections, and an unlisted model has none', () => {
    const entry = `{ url: "http://h:1", ${TIMES} }`;
    const keyed = entry.replace('}', `, api_key_file: ${join(folder, 'key-a')} }`);
    const resolver = new TargetResolver(
      read(
        `model_gateways: { a: ${entry}, b: ${entry}, c: { url: "http://h:2", ${TIMES} }, ` +
          `k: ${keyed} }`,
      ),
      { concurrencyPerModel: 1 },
    );
    expect(resolver.knownModels).toEqual(['a', 'b', 'c', 'k']);
    expect(resolver.targetOf('a')).toBe(resolver.targetOf('b'));
    for (const other of ['c', 'k'])
      expect(resolver.targetOf('a')).not.toBe(resolver.targetOf(other));
    expect(resolver.targetOf('k')!.spec.authorization({ tenant: 't' })).toBe('Bearer sk-a');
    expect(resolver.targetOf('d')).toBeUndefined();
    const close = jest.spyOn(LineTarget.prototype, 'close');
    resolver.onApplicationShutdown();
    expect(close).toHaveBeenCalledTimes(3);
    close.mockRestore();
  });

  it.each([
    ['a: [', 'end with a ]'],
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

  it('is named by its setting where it does not exist', () => {
    rmSync(path);
    expect(() => readTargetsFile({ path, secretsDir: folder })).toThrow(
      'cannot be read (ENOENT); `batch.targets_file` names it',
    );
  });
});

describe('the slots of a model', () => {
  it('are one limit for all jobs, also of a model without a target', () => {
    const resolver = new TargetResolver(
      { kind: 'per_model', targets: new Map() },
      { concurrencyPerModel: 3 },
    );
    const gate = resolver.gateOf('m');
    gate.acquire();
    expect([gate.slots, resolver.gateOf('m'), resolver.gateOf('n') === gate]).toEqual([
      3,
      gate,
      false,
    ]);
    expect([...resolver.inFlight()]).toEqual([
      { model: 'm', inFlight: 1 },
      { model: 'n', inFlight: 0 },
    ]);
  });
});

describe('the gateway as the target', () => {
  const link: ProcessorLink = {
    gatewayUrl: 'http://gateway:1/',
    tokenSecret: Buffer.alloc(32, 1).toString('base64'),
  };
  const targetOf = (
    values: Parameters<typeof settingsFrom>[0],
    given: ProcessorLink | undefined = undefined,
  ) => {
    const resolver = targetResolver(settingsFrom(values), given);
    expect([resolver.knownModels, resolver.targetOf('a')]).toEqual([[], resolver.targetOf('b')]);
    return resolver.targetOf('a')!.spec;
  };
  const keyOf = ({ authorization }: LineTarget['spec']) => authorization({ tenant: 't' });

  it.each([
    [
      'of its setting',
      { 'batch.gateway_url': 'http://a, http://b' },
      link,
      ['http://a', 'http://b'],
    ],
    ['of the gateway that started it', {}, link, ['http://gateway:1']],
    ['that this machine listens at', { 'server.port': 9 }, undefined, ['http://127.0.0.1:9']],
  ])('is called at the address %s', (_, values, given, urls) => {
    expect(targetOf(values, given).urls).toEqual(urls);
  });

  it('gets each line as often, and after such pauses, as the settings say', () => {
    const values = {
      'batch.attempts': 4,
      'batch.backoff_min_ms': 20,
      'batch.request_timeout_ms': 7,
    };
    expect(targetOf(values)).toMatchObject({
      ...{ requestTimeoutMs: 7, retries: { attempts: 4, initialMs: 20, maxMs: 1200 } },
      ...{ tls: { insecureSkipVerify: false }, fetchesFileUrl: true },
    });
  });

  it('gets a token where there is a secret, and none where no key is required', () => {
    expect(keyOf(targetOf({}, link))).toMatch(/^Bearer .{20}/);
    expect(keyOf(targetOf({}))).toBeUndefined();
    expect(() => targetOf({ 'auth.required': true })).toThrow('that the gateway signs tokens with');
    expect(keyOf(targetOf({ 'auth.required': true }, link))).toMatch(/^Bearer /);
  });

  it('that refuses a token gets one of the secret that its file has now, if it can be read', () => {
    const file = join(folder, 'secret');
    writeFileSync(file, 'a'.repeat(32));
    const spec = targetOf({ 'auth.token_secret_file': file });
    const first = keyOf(spec);
    expect(keyOf(spec)).toBe(first);
    rmSync(file);
    spec.renewTokens!();
    expect(keyOf(spec)).toBe(first);
    writeFileSync(file, 'b'.repeat(32));
    spec.renewTokens!();
    expect(keyOf(spec)).not.toBe(first);
  });

  it('is not used where a targets file names others', () => {
    writeFileSync(path, `model_gateways: { a: { url: "http://h", ${TIMES} } }`);
    const resolver = targetResolver(settingsFrom({ 'batch.targets_file': path }), link);
    expect(resolver.knownModels).toEqual(['a']);
  });
});

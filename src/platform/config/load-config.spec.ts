import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { loadConfig, readModels } from './load-config.js';
import { type SettingDefinition } from './setting-definition.js';
import {
  environmentName,
  FORMER_SETTINGS,
  SETTING_PATHS,
  settingDefinition,
  type SettingPath,
  settingsFrom,
} from './settings.js';
import { ConfigError, problemText } from './yaml-file.js';

const MODELS = 'models:\n  - { id: m, kind: stt, engine: synthetic, capabilities: [transcribe] }\n';

/** Settings whose text is checked further: other values that they may have. */
const CHECKED: Partial<Record<SettingPath, string>> = {
  'server.host': '127.0.0.2',
  'server.cors_origins': 'https://other.example',
  'auth.key': 'a-key-of-its-own-1234',
  'auth.oidc_issuer': 'https://other.example',
  'console.prometheus_url': 'http://other.example',
  'console.trace_url': 'http://other.example/{request_id}',
  'console.manual_url': 'http://other.example',
  'redis.url': 'redis://other.example',
  'redis.sentinels': 'redis://other.example',
  'database.url': 'postgres://other.example/db',
};

describe('loadConfig', () => {
  let directory: string;

  beforeEach(() => {
    directory = temporaryFolder();
    mkdirSync(join(directory, 'config'));
    write('models.yaml', MODELS);
  });

  const write = (name: string, text: string) =>
    writeFileSync(join(directory, 'config', name), text);
  const load = (environment: Record<string, string> = {}) => loadConfig({ directory, environment });
  const sourceOf = (path: SettingPath, environment: Record<string, string>) =>
    load(environment).sources.get(path);
  const problems = (environment: Record<string, string> = {}) => {
    try {
      load(environment);
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
    return [];
  };

  it('gives every default when there is no settings file', () => {
    expect(load().settings).toEqual(settingsFrom({}));
  });

  it('prefers the environment to the file and the file to the default, and remembers which', () => {
    write('switchyard.yaml', 'queue:\n  max_requests: 7\n  aging_ms: 9\n');
    const { settings, sources } = load({ SWITCHYARD_QUEUE_AGING_MS: '11' });
    expect([settings.queue.maxRequests, settings.queue.agingMs, settings.queue.timeoutMs]).toEqual([
      7, 11, 120_000,
    ]);
    expect(sources.get('queue.max_requests')?.origin).toBe('config/switchyard.yaml:2:3');
    expect(sources.get('queue.aging_ms')?.origin).toBe('SWITCHYARD_QUEUE_AGING_MS');
    expect(sources.get('queue.timeout_ms')?.origin).toBe('default');
  });

  it.each(
    SETTING_PATHS.filter(path => path !== 'workers.models_file').map(
      path => [environmentName(path), path] as const,
    ),
  )('honours %s', (name, path) => {
    const value = CHECKED[path] ?? anotherValue(settingDefinition(path));
    const needed: Record<string, string> = {};
    if (path === 'auth.oidc_issuer') needed.SWITCHYARD_AUTH_OIDC_AUDIENCE = 'switchyard';
    if (path === 'redis.sentinels') needed.SWITCHYARD_REDIS_MASTER_NAME = 'm';
    if (path === 'redis.master_name') needed.SWITCHYARD_REDIS_SENTINELS = 'redis://s';
    if (path === 'queue.driver') needed.SWITCHYARD_REDIS_URL = 'redis://other.example';
    const source = sourceOf(path, { ...needed, [name]: String(value) });
    expect(source).toEqual({ value, origin: name });
  });

  it('honours SWITCHYARD_WORKERS_MODELS_FILE', () => {
    write('other.yaml', MODELS.replace('id: m', 'id: other'));
    expect(
      load({ SWITCHYARD_WORKERS_MODELS_FILE: 'config/other.yaml' }).models.map(({ id }) => id),
    ).toEqual(['other']);
  });

  it('takes HF_ENDPOINT for hub.endpoint, before the file and after SWITCHYARD_HUB_ENDPOINT', () => {
    write('switchyard.yaml', 'hub:\n  endpoint: https://file.example\n');
    const borrowed = { HF_ENDPOINT: 'https://mirror.example' };
    const mirror = { value: 'https://mirror.example', origin: 'HF_ENDPOINT' };
    expect(sourceOf('hub.endpoint', borrowed)).toEqual(mirror);
    const own = { SWITCHYARD_HUB_ENDPOINT: 'https://own.example' };
    expect(sourceOf('hub.endpoint', { ...borrowed, ...own })?.value).toBe('https://own.example');
  });

  it('takes PORT and REDIS_URL; the own variable wins, and a difference is reported without values', () => {
    const common = { PORT: '9000', REDIS_URL: 'redis://:secret@one.example' };
    expect(sourceOf('server.port', common)).toEqual({ value: 9000, origin: 'PORT' });
    expect(sourceOf('redis.url', common)).toMatchObject({ origin: 'REDIS_URL' });
    const own = { SWITCHYARD_SERVER_PORT: '9000', SWITCHYARD_REDIS_URL: 'redis://two.example' };
    expect(sourceOf('redis.url', { ...common, ...own })?.value).toBe('redis://two.example');
    const warnings = load({ ...common, ...own }).warnings.map(problemText);
    expect(warnings).toEqual([
      expect.stringContaining('redis.url: is ignored: SWITCHYARD_REDIS_URL'),
    ]);
    expect(warnings.join()).not.toContain('secret');
  });

  it('takes one key of SWITCHYARD_AUTH_KEY, which no other rule about keys may contradict', () => {
    const key = 'a-key-of-its-own-1234';
    expect(problems({ SWITCHYARD_AUTH_KEY: key, SWITCHYARD_SERVER_HOST: '0.0.0.0' })).toEqual([]);
    write('switchyard.yaml', 'auth:\n  keys_file: keys.yaml\n');
    const both = problems({ SWITCHYARD_AUTH_KEY: key, SWITCHYARD_AUTH_ALLOW_ANONYMOUS: 'true' })
      .map(problemText)
      .join('\n');
    expect(both).toContain(
      'SWITCHYARD_AUTH_KEY  auth.key: cannot be combined with auth.keys_file (config/switchyard.yaml:2:3)',
    );
    expect(both).toContain('contradicts auth.allow_anonymous (SWITCHYARD_AUTH_ALLOW_ANONYMOUS)');
    expect(both).not.toContain(key);
  });

  it.each(['short', 'a key with spaces in it', 'ein-schlüssel-mit-umlaut'])(
    'refuses the key %j unquoted',
    key => {
      const [problem] = problems({ SWITCHYARD_AUTH_KEY: key });
      expect(problemText(problem!)).toMatch(
        /^SWITCHYARD_AUTH_KEY {2}auth\.key: must be 16 to 512 ASCII/,
      );
      expect(problemText(problem!)).not.toContain(key);
    },
  );

  it('takes QUEUE_DRIVER for queue.driver', () => {
    const redis = { SWITCHYARD_REDIS_URL: 'redis://other.example' };
    const source = sourceOf('queue.driver', { QUEUE_DRIVER: 'redis', ...redis });
    expect(source).toEqual({ value: 'redis', origin: 'QUEUE_DRIVER' });
  });

  it('takes the variables of the micro-batching document, times in seconds', () => {
    const { pull } = load({
      ...{ MAX_BATCH_SIZE: '8', BATCH_TIMEOUT: '0.05' },
      ...{ MAX_CONCURRENCY: '2', QUEUE_BRPOP_TIMEOUT: '3' },
    }).settings;
    expect(pull).toMatchObject({
      ...{ maxBatchSize: 8, batchTimeoutMs: 50, maxConcurrency: 2, blockMs: 3000 },
    });
    const both = { BATCH_TIMEOUT: '1', SWITCHYARD_PULL_BATCH_TIMEOUT_MS: '7' };
    expect(load(both).settings.pull.batchTimeoutMs).toBe(7);
    expect(() => load({ BATCH_TIMEOUT: 'soon' })).toThrow('BATCH_TIMEOUT');
  });

  it('has the defaults of the micro-batching document', () => {
    expect(load({}).settings.pull).toMatchObject({
      maxBatchSize: 6,
      batchTimeoutMs: 500,
      maxConcurrency: 1,
      blockMs: 5000,
    });
  });

  it('reports problems of the file, the environment and the models file all at once', () => {
    write('switchyard.yaml', 'server:\n  port: -1\nqueue:\n  max_request: 5\nbatchin: {}\n');
    write(
      'models.yaml',
      'models:\n  - { id: m, kind: video, engine: synthetic, capabilities: [] }\n',
    );
    const found = problems({ SWITCHYARD_LOGGING_LEVEL: 'loud', SWITCHYARD_QUEUE_AGEING_MS: '5' });
    expect(found.map(({ origin, path }) => [origin, path])).toEqual([
      ['config/switchyard.yaml:2:3', 'server.port'],
      ['config/switchyard.yaml:4:3', 'queue.max_request'],
      ['config/switchyard.yaml:5:1', 'batchin'],
      ['SWITCHYARD_LOGGING_LEVEL', 'logging.level'],
      ['SWITCHYARD_QUEUE_AGEING_MS', undefined],
      ['config/models.yaml:2:20', 'models[0].kind'],
    ]);
  });

  it('names the value, what is allowed and the nearest name', () => {
    write('switchyard.yaml', 'server:\n  port: 70000\n  prot: 1\n');
    expect(problems()).toEqual([
      expect.objectContaining({
        value: 70_000,
        message: 'must be a whole number from 0 to 65535 (default 8000)',
      }),
      expect.objectContaining({ message: 'no such setting, did you mean server.port?' }),
    ]);
    const [unknown] = problems({ SWITCHYARD_SERVER_PROT: '1' }).slice(-1);
    expect(unknown?.message).toBe('no such setting, did you mean SWITCHYARD_SERVER_PORT?');
  });

  it('refuses a fetch.allow_hosts that it cannot read, and takes an empty one', () => {
    write('switchyard.yaml', "fetch:\n  allow_hosts: 'files.lan, 10.0.0.0/33'\n");
    expect(problems()).toEqual([
      expect.objectContaining({
        origin: 'config/switchyard.yaml:2:3',
        message: '`10.0.0.0/33` is no host, host:port or network such as 10.1.0.0/16',
      }),
    ]);
    expect(load({ SWITCHYARD_FETCH_ALLOW_HOSTS: '' }).settings.fetch.allowHosts).toBe('');
  });

  it('reports the line of broken YAML and of a doubled key', () => {
    write('switchyard.yaml', 'server:\n  port: 1\n  port: 2\n');
    expect(problems()[0]?.origin).toBe('config/switchyard.yaml:3:3');
  });

  it('rejects settings that contradict each other', () => {
    const environment = {
      SWITCHYARD_WORKERS_RESTART_MIN_MS: '500',
      SWITCHYARD_WORKERS_RESTART_MAX_MS: '100',
    };
    expect(problems(environment).map(({ path }) => path)).toEqual(['workers.restart_min_ms']);
    expect(problems({ SWITCHYARD_QUEUE_MAX_BYTES: '5' })[0]?.origin).toBe(
      'SWITCHYARD_QUEUE_MAX_BYTES',
    );
  });

  it('rejects text of workers in another language on a device beside a queue that gateways share', () => {
    const onDevice = (model: string) =>
      `devices: [{ id: gpu0, memory: 2GiB }]\nmodels: [{ ${model}, device: gpu0, memory: 1GiB }]\n`;
    const redis = { SWITCHYARD_REDIS_URL: 'redis://redis.example' };
    const shared = { ...redis, QUEUE_DRIVER: 'redis' };
    const text = 'id: m, kind: llm, capabilities: [chat]';
    write('models.yaml', onDevice(`${text}, engine: synthetic`));
    expect(problems(shared)).toEqual([]);
    write('models.yaml', onDevice(`${text}, engine: external, command: [serve, "{port}"]`));
    expect(problems({ ...redis, QUEUE_DRIVER: 'embedded' })).toEqual([]);
    const message =
      'cannot be combined with text models of engine external that share a device, such as m';
    const rejected = { path: 'queue.driver', value: 'redis', message };
    expect(problems(shared)).toEqual([{ ...rejected, origin: 'QUEUE_DRIVER' }]);
    const file = join(directory, 'config', 'models.yaml');
    const own = { 'data.dir': join(directory, 'data'), 'workers.models_file': file };
    const settings = settingsFrom({ ...own, 'queue.driver': 'redis' });
    expect(() => readModels(settings)).toThrow(message);
    write('models.yaml', MODELS);
    expect(readModels(settings).map(({ id }) => id)).toEqual(['m']);
    write('models.yaml', MODELS.replace('stt', 'video'));
    expect(() => readModels(settingsFrom(own))).toThrow('kind');
  });

  it.each([
    ['DATABASE_URL', 'mysql://user:secret@db/name', 'database.url: must look like postgres://'],
    ['SWITCHYARD_DATABASE_URL', 'postgres:/db', 'database.url: must look like postgres://'],
    [
      'QUEUE_DRIVER',
      'redis',
      'queue.driver = "redis": needs redis.url, such as redis://127.0.0.1:6379',
    ],
    [
      'SWITCHYARD_DATA_DIR',
      'config/models.yaml',
      'data.dir = "config/models.yaml": must be a folder',
    ],
    ['SWITCHYARD_DATA_DIR', 'config/models.yaml/below', 'config/models.yaml is a file'],
  ])('refuses %s=%s with a configuration message that holds no secret', (name, value, message) => {
    expect(() => load({ [name]: value })).toThrow(ConfigError);
    const [problem, ...others] = problems({ [name]: value });
    expect(others).toEqual([]);
    expect(problemText(problem!)).toMatch(new RegExp(`^${name} `));
    expect(problemText(problem!)).toContain(message);
    expect(problemText(problem!)).not.toContain('secret');
  });

  it('says that a file cannot be read instead of failing with a stack trace', () => {
    rmSync(join(directory, 'config/models.yaml'));
    mkdirSync(join(directory, 'config/models.yaml'));
    expect(problems()).toEqual([
      { origin: 'config/models.yaml', message: 'cannot be read (EISDIR)' },
    ]);
  });

  it('warns of an empty list of models, and of a speech model whose voices clients cannot know', () => {
    write('models.yaml', 'models: []\n');
    expect(load().warnings).toEqual([
      { origin: 'config/models.yaml:1:9', message: expect.stringContaining('`models` is empty') },
    ]);
    write(
      'models.yaml',
      'models:\n  - { id: t, kind: tts, engine: synthetic, capabilities: [speech] }\n',
    );
    expect(load().warnings.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      expect.stringMatching(/^models\[0\]\.id: a speech model without `voices`/),
    ]);
  });

  it('misses a settings file that SWITCHYARD_CONFIG names, and a models file that is not there', () => {
    rmSync(join(directory, 'config/models.yaml'));
    const found = problems({ SWITCHYARD_CONFIG: 'nowhere.yaml' });
    expect(found.map(({ origin }) => origin)).toEqual(['SWITCHYARD_CONFIG', 'config/models.yaml']);
  });

  it('reads settings of former versions with a warning that says what holds in their place', () => {
    write('switchyard.yaml', 'latency:\n  ttl_ms: 7\nresponses:\n  flush_ms: 9\n');
    const environment = { SWITCHYARD_BATCH_MAX_MODELS: '3' };
    const { warnings } = load(environment);
    expect(warnings.map(({ origin, path }) => [origin, path])).toEqual([
      ['config/switchyard.yaml:2:3', 'latency.ttl_ms'],
      ['config/switchyard.yaml:4:3', 'responses.flush_ms'],
      ['SWITCHYARD_BATCH_MAX_MODELS', 'batch.max_models'],
    ]);
    expect(warnings[0]?.message).toContain('has no effect: the phases of a request are kept');
  });

  it('has no setting that is a former one', () => {
    expect(
      Object.keys(FORMER_SETTINGS).filter(name => (SETTING_PATHS as string[]).includes(name)),
    ).toEqual([]);
  });

  it('takes a section whose every line is commented out', () => {
    write('switchyard.yaml', 'server:\n  # port: 1\n');
    expect(problems()).toEqual([]);
  });
});

/** A legal value that is not the default, and breaks no rule between settings. */
function anotherValue({ default: value, rule }: SettingDefinition): string | number | boolean {
  if (rule instanceof z.ZodLiteral) return String([...rule.values].find(known => known !== value));
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return `${value}-other`;
  return [value + 1, value + 0.5, value - 1].find(one => rule.safeParse(one).success) ?? value;
}

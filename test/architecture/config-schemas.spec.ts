import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';
import { parse } from 'yaml';
import { ModelsDocument } from '../../src/cli/models/catalogue/models-document.js';
import { FILE_SCHEMAS } from '../../src/cli/operate/file-schemas.js';
import { takeSettingsFile } from '../../src/platform/config/load-config.js';
import { modelsFromFile } from '../../src/platform/config/models-file.js';
import { SettingSources } from '../../src/platform/config/setting-source.js';
import { parseYaml } from '../../src/platform/config/yaml-file.js';

const NAMES = Object.keys(FILE_SCHEMAS);
const read = (path: string) => readFileSync(path, 'utf8');
const schemaOf = (name: string) =>
  JSON.parse(read(`config/schema/${name}.schema.json`)) as Record<string, unknown>;

/** The line in editors' words, and the rest of the file. */
const headOf = (name: string) => `# yaml-language-server: $schema=schema/${name}.schema.json\n`;

const MODEL = 'id: m, kind: stt, engine: synthetic, capabilities: [transcribe]';
const model = (fields: string) => `models:\n  - { ${fields} }\n`;

describe('the JSON Schemas of the configuration', () => {
  const validators = new Map<string, ValidateFunction>();

  beforeAll(() => {
    const ajv = new Ajv({ strict: true, allowUnionTypes: true, allErrors: true });
    for (const name of NAMES) validators.set(name, ajv.compile(schemaOf(name)));
  });

  const schemaAccepts = (name: string, text: string) =>
    validators.get(name)!(parse(text, { merge: true }));
  const readerAccepts: Record<string, (text: string) => boolean> = {
    switchyard: text => {
      const sources = new SettingSources();
      takeSettingsFile(parseYaml(text, 'x'), sources);
      return sources.problems.length === 0;
    },
    models: text => modelsFromFile(parseYaml(text, 'x')).problems.length === 0,
  };

  it.each(NAMES)('%s: the committed file is what `npm run docs` makes of the registries', name => {
    expect(schemaOf(name)).toEqual(JSON.parse(JSON.stringify(FILE_SCHEMAS[name]!())));
  });

  it.each(NAMES)('config/%s.yaml names its schema in the first line, and is valid', name => {
    const text = read(`config/${name}.yaml`);
    expect(text.startsWith(headOf(name))).toBe(true);
    schemaAccepts(name, text);
    expect(validators.get(name)!.errors).toBeNull();
  });

  it.each([
    ['switchyard', 'a wrong key', 'queue: { max_request: 5 }'],
    ['switchyard', 'a wrong section', 'que: { max_requests: 5 }'],
    ['switchyard', 'a wrong type', 'queue: { max_requests: many }'],
    ['switchyard', 'a number out of range', 'server: { port: 70000 }'],
    ['switchyard', 'a fraction of a whole number', 'server: { port: 80.5 }'],
    ['switchyard', 'a word that is no choice', 'batching: { policy: eager }'],
    ['switchyard', 'a section that is a value', 'queue: 5'],
    ['switchyard', 'no value', 'server: { port: }'],
    ['models', 'a wrong key', model(`${MODEL}, alias: [a]`)],
    ['models', 'a missing key', model('id: m, kind: stt, engine: synthetic')],
    ['models', 'a wrong type', model(`${MODEL}, replicas: two`)],
    ['models', 'a wrong item', model(`${MODEL}, aliases: [ok, 5]`)],
    ['models', 'a wrong name', model(`${MODEL.replace('m,', '"no good",')}`)],
    ['models', 'a wrong key of a replica', model(`${MODEL}, replicas: [{ gpu: 1 }]`)],
    ['models', 'a variable of ours', model(`${MODEL}, replicas: [{ env: { SWITCHYARD_X: 1 } }]`)],
    [
      'models',
      'a certificate without its key',
      model(`${MODEL}, remote: { tls: { cert_file: a } }`),
    ],
    ['models', 'a command without a port', model(`${MODEL}, command: [python, worker.py]`)],
    ['models', 'another section', `${model(MODEL)}other: 1`],
    ['models', 'no list', 'models: 5'],
  ])('%s: refuses %s as its reader does', (name, _, text) => {
    expect([schemaAccepts(name, text), readerAccepts[name]!(text)]).toEqual([false, false]);
  });

  it.each([
    ['switchyard', 'an empty section', 'queue:\n'],
    ['switchyard', 'a bare true that is a choice', 'logging: { pretty: true }'],
    ['switchyard', 'an empty text', 'auth: { keys_file: "" }'],
    [
      'models',
      'replicas as a list',
      model(`${MODEL}, replicas: [{ device: cpu, env: { A: 1, B: true } }]`),
    ],
    [
      'models',
      'a worker of its own',
      model(`${MODEL.replace('synthetic', 'external')}, command: [a, '{port}']`),
    ],
    ['models', 'remote workers', model(`${MODEL}, addresses: ['w:9000'], remote: { tls: {} }`)],
  ])('%s: accepts %s as its reader does', (name, _, text) => {
    expect([schemaAccepts(name, text), readerAccepts[name]!(text)]).toEqual([true, true]);
  });

  it('tell of a setting what it does, its unit and its variable', () => {
    const { properties } = schemaOf('switchyard') as {
      properties: Record<string, { properties: object }>;
    };
    expect(properties.queue!.properties).toMatchObject({
      aging_ms: {
        type: 'integer',
        description: expect.stringMatching(/ ms\. Variable: SWITCHYARD_QUEUE_AGING_MS\.$/),
      },
    });
  });

  it('stay named when `models add` rewrites the file', () => {
    const document = ModelsDocument.parse(read('config/models.yaml'), 'models.yaml', () => []);
    document.put({ id: 'added' }, 'a new one');
    expect(document.toString().startsWith(headOf('models'))).toBe(true);
  });
});

import { describe, expect, it } from '@jest/globals';
import { filledIn } from './model-fields.js';
import { type ModelSpec, replicaSpecs } from './model-spec.js';
import { modelsFromFile, NO_MODELS } from './models-file.js';
import { parseYaml } from './yaml-file.js';

const entry = (fields: string) =>
  `models:\n  - { id: m, kind: stt, engine: synthetic, capabilities: [transcribe], ${fields} }\n`;
const read = (fields: string) => modelsFromFile(parseYaml(entry(fields), 'models.yaml'));
const firstModel = (fields: string) => {
  const { models, problems } = read(fields);
  expect(problems).toEqual([]);
  return models[0]!;
};
const brief = (fields: string) =>
  read(fields).problems.map(({ path, message }) => `${path} ${message}`);

describe('replicas', () => {
  it('as a number are that many of the same', () => {
    expect(replicaSpecs(firstModel('replicas: 2'))).toEqual([{}, {}]);
    expect(replicaSpecs(firstModel('addresses: ["a:1"]'))).toEqual([]);
  });

  it('as a list have a device and an environment each, whose values become text', () => {
    const model = firstModel(
      'replicas: [{ device: "cuda:0", env: { OMP_NUM_THREADS: 4, DEBUG: true } }, {}]',
    );
    expect(replicaSpecs(model)).toEqual([
      { device: 'cuda:0', env: { OMP_NUM_THREADS: '4', DEBUG: 'true' } },
      {},
    ]);
  });

  it.each([
    ['[{ devcie: cpu }]', 'replicas[0].devcie no such field, did you mean device?'],
    ['[{ env: { "A B": x } }]', 'replicas[0].env must be {NAME: value}'],
    ['[{ env: { A: [x] } }]', 'replicas[0].env must be {NAME: value}'],
    ['[{ cores: "all" }]', "replicas[0].cores must be CPU numbers such as '0-3,6'"],
    [
      '[1]',
      "replicas[0] must be {role: any | stream | file, cores: '0-3', device: text, env: {NAME: value}}",
    ],
    ['[{ role: streams }]', 'replicas[0].role must be one of any, stream, file'],
    [
      '[{ role: stream }, { role: stream }]',
      'replicas needs one that takes files: role file or any',
    ],
    ...['-1', '65', '1.5', 'two'].map(replicas => [
      replicas,
      'replicas must be a whole number from 0 to 64, or',
    ]),
  ])('%s is rejected: %s', (replicas, problem) =>
    expect(brief(`replicas: ${replicas}`)).toEqual([
      expect.stringContaining(`models[0].${problem}`),
    ]),
  );

  it('may not change what its gateway sets for a worker', () => {
    expect(brief('replicas: [{ env: { SWITCHYARD_WORKER_SPEC: "{}" } }]')).toHaveLength(1);
  });
});

describe('remote', () => {
  it('is compiled to the names that code uses', () => {
    const { remote } = firstModel(
      'addresses: ["a:1"], remote: { tls: { ca_file: package.json, server_name: w }, token_file: package.json }',
    );
    expect(remote).toEqual({
      tls: { caFile: 'package.json', serverName: 'w' },
      tokenFile: 'package.json',
    });
  });

  it('with an empty tls trusts the usual authorities', () => {
    expect(firstModel('addresses: ["a:1"], remote: { tls: {} }').remote).toEqual({ tls: {} });
  });

  it('is refused with a certificate that has no key, an unknown field, or no addresses', () => {
    expect(brief('addresses: ["a:1"], remote: { tls: { cert_file: package.json } }')).toHaveLength(
      1,
    );
    expect(brief('addresses: ["a:1"], remote: { token: secret }')).toHaveLength(1);
    expect(brief('remote: { tls: {} }')).toEqual([
      expect.stringContaining('only models with addresses'),
    ]);
  });

  it('names the field whose file cannot be read', () => {
    expect(
      brief('addresses: ["a:1"], remote: { tls: { ca_file: nowhere.pem }, token_file: nowhere }'),
    ).toEqual([
      'models[0].remote.tls.ca_file cannot be read',
      'models[0].remote.token_file cannot be read',
    ]);
  });
});

describe('life of a model', () => {
  it('is always and for ever by default', () => {
    expect(firstModel('autostart: on_request, idle_unload_s: 600')).toMatchObject({
      autostart: 'on_request',
      idleUnloadS: 600,
    });
  });

  it.each(['autostart: never', 'idle_unload_s: 0', 'idle_unload_s: 1.5', 'idleUnloadS: 5'])(
    '%s is refused',
    field => expect(brief(field)).toHaveLength(1),
  );
});

describe('commands of foreign workers', () => {
  it('have their placeholders filled in; other braces stay', () => {
    const values = { port: '9', host: 'h', model: 'm', device: 'cuda:1' };
    expect(filledIn('--listen={host}:{port}', values)).toBe('--listen=h:9');
    expect(filledIn('{"a": "{model}", "b": {device}, "c": {x}}', values)).toBe(
      '{"a": "m", "b": cuda:1, "c": {x}}',
    );
  });
});

describe('models and what they may say', () => {
  const file = (text: string) => modelsFromFile(parseYaml(text, 'models.yaml'));
  const problemsOf = (text: string) =>
    file(text).problems.map(({ origin, path, message }) => `${origin} ${path} ${message}`);
  const stt = 'id: m, kind: stt, engine: synthetic, capabilities: []';
  const devices = 'devices: [{ id: a, memory: 4GiB, as: "x:0" }, { id: b, memory: 4GiB }]\n';
  const of = (fields: string) => file(`models: [{ ${stt}, ${fields} }]`);

  it.each([
    'loudness: normalise',
    'replicas: [{ role: stream }, { role: file }]',
    'replicas: [{ role: stream }, {}]',
    'replicas: [{ role: stream }], addresses: ["a:1"]',
    'replicas: 0',
    'addresses: ["a:1"], remote: { token_file: package.json }',
  ])('%s is taken', fields => expect(of(fields).problems).toEqual([]));

  it('compiles sizes, nested names and the environment of replicas; options stay as they are', () => {
    const { models } = file(
      `${devices}models:\n  - { ${stt}, device: a, memory: 1GiB, replicas: [{ env: { A: 0 } }, {}], ` +
        'options: { cost_ms: { a_b: 1 } } }\n' +
        '  - { id: n, kind: stt, engine: synthetic, capabilities: [], addresses: ["a:1"], ' +
        'remote: { token_file: package.json, tls: { ca_file: package.json } } }\n',
    );
    expect(models[0]).toMatchObject({
      memory: 1_073_741_824,
      device: [{ id: 'a', as: 'x:0' }],
      replicas: [{ env: { A: '0' } }, {}],
      options: { cost_ms: { a_b: 1 } },
    });
    expect(models[0]).not.toHaveProperty('pin');
    expect(models[1]!.remote).toEqual({
      tokenFile: 'package.json',
      tls: { caFile: 'package.json' },
    });
    expect(models[1]).not.toHaveProperty('device');
  });

  it('names files that cannot be read, by their field', () => {
    const remote =
      'remote: { token_file: /none/t, tls: { cert_file: package.json, key_file: /none/k } }';
    const told = of(`addresses: ["a:1"], ${remote}`).problems;
    expect(told.map(({ path, message }) => `${path} ${message}`)).toEqual([
      'models[0].remote.tls.key_file cannot be read',
      'models[0].remote.token_file cannot be read',
    ]);
  });

  it('asks the engine about each replica, once where its answers are the same', () => {
    const askEngine = ({ options }: ModelSpec) => [
      { path: 'options.device', message: `no ${String(options.device)}` },
      { path: 'options.other', message: 'is wrong' },
    ];
    const told = (fields: string) =>
      modelsFromFile(parseYaml(`models: [{ ${stt}, ${fields} }]`, 'f'), askEngine).problems.map(
        ({ path, message }) => `${path} ${message}`,
      );
    expect(told('replicas: [{ device: a }, {}, { device: b }]')).toEqual([
      'models[0].replicas[0].device no a',
      'models[0].options.other is wrong',
      'models[0].options.device no undefined',
      'models[0].replicas[2].device no b',
    ]);
    expect(told('replicas: 0')).toHaveLength(2);
  });

  it('warns of a voice whose names clients cannot know, and of no model', () => {
    const voice = (fields: string) =>
      file(`models: [{ id: m, kind: tts, capabilities: [], ${fields} }]`).warnings.map(
        ({ path }) => path,
      );
    expect(voice('engine: synthetic')).toEqual(['models[0].id']);
    expect(voice('engine: synthetic, voices: { alloy: a }')).toEqual([]);
    expect(voice('engine: openai-http, options: { baseUrl: "http://x/v1" }')).toEqual([]);
    expect(of('aliases: []').warnings).toEqual([]);
    expect(file('models: []').warnings).toEqual([
      { origin: 'models.yaml:1:9', message: NO_MODELS },
    ]);
  });

  it('takes no section but models and devices, no entry that is none, and no broken file', () => {
    expect(problemsOf('models: []\nmodel: []\n')).toEqual([
      'models.yaml:2:1 model no such section; only `models` and `devices`',
    ]);
    expect(problemsOf('models: [x]')).toEqual([expect.stringContaining('models[0] must be')]);
    expect(problemsOf('models: []\nmodels: [x]\n')).toHaveLength(1);
  });
});

import { describe, expect, it } from '@jest/globals';
import { filledIn } from './model-fields.js';
import { replicaSpecs } from './model-spec.js';
import { modelsFromFile } from './models-file.js';
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

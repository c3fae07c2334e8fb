import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { ENGINE_NAMES, replicaSpecs } from './model-spec.js';
import { modelsFromFile, withStarters } from './models-file.js';
import { parseYaml, problemText } from './yaml-file.js';

const read = (text: string) => modelsFromFile(parseYaml(text, 'models.yaml'));
const model = (fields: string) =>
  `models:\n  - id: m\n    kind: stt\n    engine: synthetic\n    capabilities: [transcribe]\n${fields}`;
const brief = (text: string) =>
  read(text).problems.map(({ origin, path, message }) => `${origin} ${path} ${message}`);

describe('modelsFromFile', () => {
  it('fills in what was left out: one local replica, no aliases, any language', () => {
    expect(read(model('')).models).toEqual([syntheticModel({}, { id: 'm' })]);
  });

  it('starts no local replica for a model with addresses unless configured', () => {
    expect(read(model('    addresses: ["10.0.0.7:9000"]\n')).models[0]?.replicas).toBe(0);
    expect(
      read(model('    addresses: ["[::1]:9000"]\n    replicas: 2\n')).models[0]?.replicas,
    ).toBe(2);
  });

  it('names line, field and allowed values of everything that is wrong in an entry', () => {
    expect(
      brief('models:\n  - id: "no spaces"\n    kind: vidoe\n    replica: 2\n    replicas: -1\n'),
    ).toEqual([
      'models.yaml:4:5 models[0].replica no such field, did you mean replicas?',
      expect.stringContaining('models.yaml:2:9 models[0].id must be letters'),
      'models.yaml:3:11 models[0].kind must be one of stt, tts, llm, embedding',
      `models.yaml:2:5 models[0].engine is missing; must be one of ${ENGINE_NAMES.join(', ')}`,
      expect.stringContaining('models[0].capabilities is missing; must be a list of transcribe'),
      expect.stringContaining(
        'models.yaml:5:15 models[0].replicas must be a whole number from 0 to 64',
      ),
    ]);
  });

  it('rejects an alias or id that another model has', () => {
    const text =
      `${model('    aliases: [a]\n')}` +
      `  - { id: a, kind: stt, engine: synthetic, capabilities: [], aliases: [m] }\n`;
    expect(brief(text)).toEqual([
      'models.yaml:7:11 models[1].id "a" already names model m; names must be unique',
      'models.yaml:7:72 models[1].aliases[0] "m" already names model m; names must be unique',
    ]);
  });

  it('takes itn of a recogniser', () => {
    expect(read(model('    itn: true\n')).models[0]?.itn).toBe(true);
  });

  it('rejects a file without a list of models', () => {
    expect(brief('models: {}\n')).toEqual([
      'models.yaml:1:1 undefined must hold `models:` and a list below it',
    ]);
    expect(read('').problems).toHaveLength(1);
  });
});

describe('a wrong models file', () => {
  const stt = 'id: m, kind: stt, engine: synthetic, capabilities: [transcribe]';
  const tts = 'id: m, kind: tts, engine: synthetic, capabilities: [speech]';

  it.each([
    [
      'an unknown engine',
      'id: m, kind: stt, engine: sherpa-onyx, capabilities: []',
      'engine',
      'did you mean sherpa-onnx?',
    ],
    [
      'an unknown kind',
      'id: m, kind: sst, engine: synthetic, capabilities: []',
      'kind',
      'one of stt, tts, llm, embedding, did you mean stt?',
    ],
    [
      'a kind the engine does not do',
      'id: m, kind: tts, engine: llama-cpp, capabilities: []',
      'kind',
      'does llm and embedding only',
    ],
    [
      'a misspelt capability',
      'id: m, kind: stt, engine: synthetic, capabilities: [transcribe, tranlate]',
      'capabilities[1]',
      'did you mean translate?',
    ],
    [
      'a capability of the other kind',
      'id: m, kind: stt, engine: synthetic, capabilities: [speech]',
      'capabilities[0]',
      'nothing that models of kind stt do; they have transcribe',
    ],
    [
      'no capabilities',
      'id: m, kind: stt, engine: synthetic',
      'capabilities',
      'is missing; must be a list of transcribe',
    ],
    [
      'a misspelt field',
      `${stt}, langauges: [en]`,
      'langauges',
      'no such field, did you mean languages?',
    ],
    [
      'a language that is none',
      `${stt}, languages: [en, English]`,
      'languages[1]',
      'must be a BCP-47 tag',
    ],
    [
      'an alias that is no name',
      `${stt}, aliases: ["a b"]`,
      'aliases[0]',
      'must be letters, digits',
    ],
    ['a pattern with two *', `${stt}, aliases: ["a*b*"]`, 'aliases[0]', 'a pattern with one *'],
    [
      'two patterns of a kind',
      `${stt}, aliases: ["a*", "*"]`,
      'aliases[1]',
      '"* of kind stt" already names model m',
    ],
    ['an alias twice', `${stt}, aliases: [a, a]`, 'aliases[1]', '"a" already names model m'],
    [
      'an alias that is its own id',
      `${stt}, aliases: [m]`,
      'aliases[0]',
      '"m" already names model m',
    ],
    ['a list that is none', `${stt}, aliases: a`, 'aliases', 'must be a list of names'],
    [
      'too many replicas',
      `${stt}, replicas: 65`,
      'replicas',
      'must be a whole number from 0 to 64',
    ],
    ['an address without port', `${stt}, addresses: [gpu-7]`, 'addresses[0]', 'must be host:port'],
    ['itn that is neither', `${stt}, itn: yes please`, 'itn', 'must be true or false'],
    ['itn of a voice', `${tts}, itn: true`, 'itn', 'only models of kind stt'],
    ['voices of a recogniser', `${stt}, voices: { a: b }`, 'voices', 'only models of kind tts'],
    [
      'remote workers without addresses',
      `${stt}, remote: {}`,
      'remote',
      'only models with addresses',
    ],
    [
      'a role of a voice',
      `${tts}, replicas: [{ role: file }]`,
      'replicas',
      'only models of kind stt have replicas with a role',
    ],
    [
      'replicas that take no file',
      `${stt}, replicas: [{ role: stream }]`,
      'replicas',
      'needs one that takes files',
    ],
    [
      'a stay on no device',
      `${stt}, min_residence_s: 5`,
      'min_residence_s',
      'only models with a `',
    ],
    ['voices without an id', `${tts}, voices: { a: 1 }`, 'voices', 'pairs of a client voice name'],
    ['options that are a list', `${stt}, options: [threads]`, 'options', 'must be pairs'],
  ])(
    'with %s is reported with file, line, column, field and what is allowed',
    (_, entry, field, message) => {
      const problems = brief(`models:\n  - { ${entry} }\n`);
      expect(problems).toEqual([expect.stringContaining(message)]);
      expect(problems[0]).toMatch(/^models\.yaml:2:\d+ /);
      expect(problems[0]).toContain(` models[0].${field} `);
    },
  );

  it('with options that the engine refuses is reported at the option', () => {
    const text = model('    options:\n      cost_ms: -1\n      colour: red\n');
    const refuse = () => [
      { path: 'options.cost_ms', message: 'is -1; allowed: 0 to 5' },
      { path: 'options.absent', message: 'is missing' },
    ];
    const { problems } = modelsFromFile(parseYaml(text, 'models.yaml'), refuse);
    expect(problems.map(({ origin, path, message }) => `${origin} ${path} ${message}`)).toEqual([
      'models.yaml:7:16 models[0].options.cost_ms is -1; allowed: 0 to 5',
      'models.yaml:7:7 models[0].options.absent is missing',
    ]);
  });
});

describe('withStarters', () => {
  const merged = (configured: string, starters: string) => {
    const { models, problems, warnings } = withStarters(read(configured), read(starters));
    expect(problems).toEqual([]);
    return {
      models,
      names: models.map(({ id, aliases }) => [id, ...aliases].join(' ')),
      warnings,
    };
  };
  const entries = (...list: readonly string[]) =>
    `models: [${list
      .map(text => {
        const [id, engine, ...aliases] = text.split(' ');
        const options = engine === 'openai-http' ? ', options: { baseUrl: "http://x/v1" }' : '';
        return `{ id: ${id}, kind: stt, engine: ${engine}, aliases: [${aliases.join(', ')}], capabilities: []${options} }`;
      })
      .join(', ')}]`;

  it('moves names from stand-ins to starters; what the configured file gives a real model stays', () => {
    const { names } = merged(
      entries(
        'ears synthetic whisper-1 own',
        'gpu openai-http gpt-4o-transcribe',
        'tiny openai-http',
      ),
      entries('base openai-http whisper-1 gpt-4o-transcribe', 'tiny openai-http b'),
    );
    expect(names).toEqual(['ears own', 'gpu gpt-4o-transcribe', 'tiny', 'base whisper-1']);
  });

  it('loads a stand-in without names of its own only on request, unless its entry says otherwise', () => {
    const { models } = merged(
      entries('ears synthetic whisper-1', 'kept synthetic tts-1 own', 'nameless synthetic').replace(
        'id: kept',
        'autostart: always, id: kept',
      ),
      entries('base openai-http whisper-1 tts-1'),
    );
    expect(models.map(({ id, autostart, idleUnloadS }) => [id, autostart, idleUnloadS])).toEqual([
      ['ears', 'on_request', 600],
      ['kept', 'always', undefined],
      ['nameless', undefined, undefined],
      ['base', undefined, undefined],
    ]);
  });

  it('warns of no models only where both files have none', () => {
    expect(merged('models: []', entries('base openai-http')).warnings).toEqual([]);
    expect(merged('models: []', 'models: []').warnings).not.toEqual([]);
  });

  it('loads a starter stand-in that lost its names on request only; a configured id stays alone', () => {
    const starters = entries('a openai-http whisper-1', 'b openai-http own').replaceAll(
      'kind: stt',
      'kind: stt, stand_in: true',
    );
    const { models, names } = merged(
      entries('real openai-http whisper-1', 'b synthetic'),
      starters,
    );
    expect(names).toEqual(['real whisper-1', 'b', 'a']);
    expect(models.map(({ autostart }) => autostart)).toEqual([undefined, undefined, 'on_request']);
  });
});

const external = (fields: string, engine = 'external') =>
  `models:\n  - { id: m, kind: stt, engine: ${engine}, capabilities: [transcribe], ${fields} }\n`;

describe('models of engine external', () => {
  it.each([
    ['command: [python, w.py, "{port}"]', 1],
    ['command: [python, w.py, "{port}"], addresses: ["a:1"]', 1],
    ['command: [python, w.py, "{port}"], replicas: 3', 3],
    ['addresses: ["a:1"]', 0],
  ])('%s: %d local workers', (fields, count) => {
    const { models, problems } = read(external(fields));
    expect(problems).toEqual([]);
    expect(replicaSpecs(models[0]!)).toHaveLength(count);
  });

  it.each([
    ['', 'models.yaml:2:33 models[0].engine needs `command` (a worker to start) or `addresses`'],
    ['addresses: ["a:1"], replicas: 2', 'models.yaml:2:101 models[0].replicas needs `command`'],
    ['command: [python, w.py]', 'models.yaml:2:80 models[0].command must be a list such as'],
    ['command: ["{port}"]', 'models.yaml:2:80 models[0].command must be a list such as'],
    ['command: python w.py', 'models.yaml:2:80 models[0].command must be a list such as'],
    ['command: [python, 9000, "{port}"]', 'models.yaml:2:89 models[0].command[1] must be text'],
    ['command: ["", "{port}"]', 'models.yaml:2:80 models[0].command must be a list such as'],
  ])('%s is refused', (fields, problem) =>
    expect(brief(external(fields))).toEqual([expect.stringContaining(problem)]),
  );

  it('a command that is refused is shown without its secrets', () => {
    const { problems } = read(
      external('command: "python w.py --api-key planted-1 --auth planted-2"'),
    );
    expect(problemText(problems[0]!)).toMatch(/command = "python w\.py --api-key \[redacted\] /);
    expect(problemText(problems[0]!)).not.toContain('planted');
  });

  it('alone have a command', () => {
    expect(brief(external('command: [python, "{port}"]', 'synthetic'))).toEqual([
      'models.yaml:2:81 models[0].command only models of engine external have one',
    ]);
  });

  it('are written in the guide as they are read here', () => {
    const guide = readFileSync('docs/guides/write-a-worker.md', 'utf8');
    const [, example = ''] = /```yaml\n(# config\/models\.yaml[^`]+)```/.exec(guide) ?? [];
    const { models, problems } = modelsFromFile(parseYaml(example, 'guide'));
    expect(problems).toEqual([]);
    expect(models.map(({ id, replicas, addresses }) => [id, replicas, addresses])).toEqual([
      ['meter', [{ env: { OMP_NUM_THREADS: '2' } }], []],
      ['whisper', 0, ['127.0.0.1:9000']],
    ]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { loadConfig } from './load-config.js';
import { modelsFromFile } from './models-file.js';
import { parseYaml } from './yaml-file.js';

const read = (text: string) => modelsFromFile(parseYaml(text, 'models.yaml'));
const model = (fields: string) =>
  `models:\n  - id: m\n    kind: stt\n    engine: synthetic\n    capabilities: [transcribe]\n${fields}`;
const brief = (text: string) => read(text).problems.map(({ origin, path, message }) => `${origin} ${path} ${message}`);

describe('modelsFromFile', () => {
  it('fills in what was left out: one local replica, no aliases, any language', () => {
    expect(read(model('')).models).toEqual([
      {
        id: 'm',
        kind: 'stt',
        engine: 'synthetic',
        aliases: [],
        capabilities: ['transcribe'],
        languages: [],
        replicas: 1,
        addresses: [],
        voices: {},
        options: {},
      },
    ]);
  });

  it('starts no local replica for a model with addresses unless told to', () => {
    expect(read(model('    addresses: ["10.0.0.7:9000"]\n')).models[0]?.replicas).toBe(0);
    expect(read(model('    addresses: ["[::1]:9000"]\n    replicas: 2\n')).models[0]?.replicas).toBe(2);
  });

  it('names line, field and allowed values of everything that is wrong in an entry', () => {
    expect(brief('models:\n  - id: "no spaces"\n    kind: vidoe\n    replica: 2\n    replicas: -1\n')).toEqual([
      'models.yaml:4 models[0].replica no such field, did you mean replicas?',
      expect.stringContaining('models.yaml:2 models[0].id must be letters'),
      'models.yaml:3 models[0].kind must be one of stt, tts',
      'models.yaml:2 models[0].engine is missing; must be one of pocketsphinx, flite, openai-http, synthetic',
      expect.stringContaining('models[0].capabilities is missing; must be a list of transcribe'),
      'models.yaml:5 models[0].replicas must be 0 to 64, whole',
    ]);
  });

  it('rejects an alias or id that another model has', () => {
    const text = `${model('    aliases: [a]\n')}  - { id: a, kind: stt, engine: synthetic, capabilities: [], aliases: [m] }\n`;
    expect(brief(text)).toEqual([
      'models.yaml:7 models[1].id "a" already names model m; names must be unique',
      'models.yaml:7 models[1].aliases "m" already names model m; names must be unique',
    ]);
  });

  it('rejects a kind that the engine does not do, and voices on a recogniser', () => {
    expect(brief('models:\n  - { id: f, kind: stt, engine: flite, capabilities: [], voices: { a: b } }\n')).toEqual([
      'models.yaml:2 models[0].kind engine flite does tts only',
      'models.yaml:2 models[0].voices only models of kind tts have voices',
    ]);
  });

  it('takes itn for recognisers only, and only true or false', () => {
    expect(read(model('    itn: true\n')).models[0]?.itn).toBe(true);
    expect(brief(model('    itn: always\n'))).toEqual(['models.yaml:6 models[0].itn must be true or false']);
    expect(brief('models:\n  - { id: f, kind: tts, engine: flite, capabilities: [], itn: true }\n')).toEqual([
      'models.yaml:2 models[0].itn only models of kind stt have itn',
    ]);
  });

  it('rejects a file without a list of models', () => {
    expect(brief('models: {}\n')).toEqual(['models.yaml:1 undefined must hold `models:` and a list below it']);
    expect(read('').problems).toHaveLength(1);
  });
});

describe('config/models.yaml', () => {
  it("serves OpenAI's model and voice names with what is installed", () => {
    const [stt, tts] = loadConfig({ environment: {} }).models;
    expect(stt?.aliases).toContain('whisper-1');
    expect(tts?.aliases).toEqual(['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts']);
    for (const voice of [
      'alloy',
      'ash',
      'ballad',
      'coral',
      'echo',
      'fable',
      'onyx',
      'nova',
      'sage',
      'shimmer',
      'verse',
    ]) {
      expect(['rms', 'slt', 'awb']).toContain(tts?.voices[voice]);
    }
  });
});

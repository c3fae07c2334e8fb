import { describe, expect, it } from '@jest/globals';
import { syntheticModel } from '../../test/support/synthetic-model.js';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { modelsFromFile } from '../platform/config/models-file.js';
import { parseYaml } from '../platform/config/yaml-file.js';
import { createEngine, ENGINE_CHECKS } from './engine-factory.js';

const problems = (text: string) =>
  modelsFromFile(parseYaml(text, 'models.yaml'), ENGINE_CHECKS.objections).problems.map(
    ({ origin, path, message }) => `${origin} ${path} ${message}`,
  );

const entry = (engine: string, options: string, more = '') =>
  `models:\n  - id: m\n    kind: stt\n    engine: ${engine}\n` +
  `    capabilities: [transcribe]\n${more}    options:\n${options}`;

describe('engineObjections', () => {
  it('places a misspelt option and a wrong value at their lines, with the nearest name', () => {
    expect(problems(entry('sherpa-onnx', '      threads: 0\n      modeldir: /models\n'))).toEqual([
      expect.stringContaining('models.yaml:7:7 models[0].options.modelDir is null'),
      'models.yaml:7:16 models[0].options.threads is 0; allowed: a whole number from 1 to 64',
      expect.stringMatching(
        /^models\.yaml:8:17 models\[0\]\.options\.modeldir is unknown, did you mean modelDir\?; known/,
      ),
    ]);
  });

  it('places what is missing at the options', () => {
    expect(problems(entry('openai-http', '      model: x\n'))).toEqual([
      expect.stringMatching(
        /^models\.yaml:7:7 models\[0\]\.options\.baseUrl is undefined; allowed: an http/,
      ),
    ]);
  });

  it('leaves models alone whose workers run elsewhere', () => {
    expect(
      problems(entry('sherpa-onnx', '      threads: 0\n', '    addresses: ["gpu-7:9000"]\n')),
    ).toEqual([]);
  });
});

const spec = (changes: Partial<ModelSpec>) =>
  syntheticModel({}, { id: 'm', capabilities: [], ...changes });

describe('engine options', () => {
  it('reports every problem at once, with field, value and what is allowed', () => {
    const options = { maxBatch: 0, baseMs: 'soon', steps: 1.5 };
    expect(() => createEngine(spec({ options }))).toThrow(
      'Model \'m\': options.baseMs is "soon"; allowed: a number from 0 to 3600000; ' +
        'options.steps is 1.5; allowed: a whole number from 1 to 10000; ' +
        'options.maxBatch is 0; allowed: a whole number from 1 to 1024',
    );
  });

  it('refuses an option that nobody reads, naming those that exist', () => {
    const options = { modelDir: '/models/m', thread: 2 };
    expect(() => createEngine(spec({ engine: 'sherpa-onnx', options }))).toThrow(
      /options\.thread is unknown, did you mean threads\?; known options are .*modelDir/,
    );
  });

  it.each([
    ['not a list', 'fail'],
    ['without a marker', [{ action: 'fail' }]],
    ['an unknown action', [{ marker: 'x', action: 'explode' }]],
    ['an unknown field', [{ marker: 'x', action: 'fail', when: 'now' }]],
    ['a negative time', [{ marker: 'x', action: 'slow', ms: -1 }]],
  ])('refuses scripted faults: %s', (_title, faults) => {
    expect(() => createEngine(spec({ options: { faults } }))).toThrow('options.faults is');
  });

  it('refuses an engine of the other kind', () => {
    expect(() => createEngine(spec({ engine: 'llama-cpp', kind: 'stt' }))).toThrow(
      "kind is 'stt'; allowed for engine llama-cpp: llm, embedding",
    );
  });

  it('makes the engine of the kind, with its limits, before anything is loaded', () => {
    expect(
      createEngine(spec({ options: { maxBatch: 3, maxConcurrent: 2, streams: 4 } })).info,
    ).toMatchObject({ maxBatch: 3, maxConcurrent: 2, streams: 4 });
    expect(createEngine(spec({ kind: 'tts' })).kind).toBe('tts');
    expect(
      createEngine(spec({ engine: 'sherpa-onnx', options: { modelDir: '/models/m', maxBatch: 2 } }))
        .info,
    ).toMatchObject({ maxBatch: 2, streams: 0, capabilities: ['transcribe'] });
  });
});

import { describe, expect, it } from '@jest/globals';
import { modelsFromFile } from '../platform/config/models-file.js';
import { parseYaml } from '../platform/config/yaml-file.js';
import { ENGINE_CHECKS } from './engine-factory.js';

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

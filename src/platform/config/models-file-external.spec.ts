import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { filledIn } from './model-fields.js';
import { replicaSpecs } from './model-spec.js';
import { modelsFromFile } from './models-file.js';
import { parseYaml, problemText } from './yaml-file.js';

const read = (fields: string, engine = 'external') =>
  modelsFromFile(
    parseYaml(
      `models:\n  - { id: m, kind: stt, engine: ${engine}, capabilities: [transcribe], ${fields} }\n`,
      'models.yaml',
    ),
  );
const brief = (fields: string, engine?: string) =>
  read(fields, engine).problems.map(({ origin, path, message }) => `${origin} ${path} ${message}`);

describe('models of engine external', () => {
  it.each([
    ['command: [python, w.py, "{port}"]', 1],
    ['command: [python, w.py, "{port}"], addresses: ["a:1"]', 1],
    ['command: [python, w.py, "{port}"], replicas: 3', 3],
    ['addresses: ["a:1"]', 0],
  ])('%s: %d local workers', (fields, count) => {
    const { models, problems } = read(fields);
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
    expect(brief(fields)).toEqual([expect.stringContaining(problem)]),
  );

  it('a command that is refused is shown without its secrets', () => {
    const { problems } = read('command: "python w.py --api-key planted-1 --auth planted-2"');
    expect(problemText(problems[0]!)).toMatch(/command = "python w\.py --api-key \[redacted\] /);
    expect(problemText(problems[0]!)).not.toContain('planted');
  });

  it('alone have a command', () => {
    expect(brief('command: [python, "{port}"]', 'synthetic')).toEqual([
      'models.yaml:2:81 models[0].command only models of engine external have one',
    ]);
  });

  it('have their placeholders filled in; other braces stay', () => {
    const values = { port: '9', host: 'h', model: 'm', device: 'cuda:1' };
    expect(filledIn('--listen={host}:{port}', values)).toBe('--listen=h:9');
    expect(filledIn('{"a": "{model}", "b": {device}, "c": {x}}', values)).toBe(
      '{"a": "m", "b": cuda:1, "c": {x}}',
    );
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

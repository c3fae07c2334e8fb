import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One stage of a Dockerfile. */
export interface DockerStage {
  readonly name: string;
  readonly from: string;
  /** Instructions in order, continuations joined. */
  readonly instructions: readonly string[];
}

export function dockerStages(file: string): DockerStage[] {
  const text = readFileSync(file, 'utf8')
    .replace(/^#.*\n/gm, '')
    .replaceAll('\\\n', ' ');
  const lines = text.split('\n').filter(line => line.trim() !== '');
  const stages: { name: string; from: string; instructions: string[] }[] = [];
  for (const line of lines) {
    const [, from, name] = /^FROM (\S+) AS (\S+)$/.exec(line) ?? [];
    if (from !== undefined && name !== undefined) stages.push({ name, from, instructions: [] });
    else stages.at(-1)?.instructions.push(line.trim());
  }
  return stages;
}

/** The instructions of a stage and of those it stands on, in the order they act. */
export function inherited(stages: readonly DockerStage[], name: string): readonly string[] {
  const stage = stages.find(candidate => candidate.name === name);
  return stage ? [...inherited(stages, stage.from), ...stage.instructions] : [];
}

/** Names of metrics in a PromQL expression, histogram parts without their suffix. */
export function metricsOf(expression: string): string[] {
  const bare = expression
    .replace(/"[^"]*"/g, '')
    .replace(/\$\w+/g, '')
    .replace(/\bby\s*\([^)]*\)/g, '')
    .replace(/\{[^}]*\}/g, '');
  const names = [...bare.matchAll(/\b[a-z]\w*_\w+\b|\bup\b/g)].map(([name]) => name);
  return names
    .filter(name => !FUNCTIONS.includes(name))
    .map(name => name.replace(/_(bucket|sum|count)$/, ''));
}

const FUNCTIONS = ['histogram_quantile', 'label_values'];

/** Labels that an expression groups by or asks for. */
export function labelsOf(expression: string): string[] {
  const groups = [...expression.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(','),
  );
  const matchers = [...expression.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(
    ([, name = '']) => name,
  );
  return [...groups, ...matchers].map(name => name.trim());
}

export const environmentNames = (text: string): string[] => [
  ...new Set([...text.matchAll(/\bSWITCHYARD_[A-Z0-9_]+[A-Z0-9]\b/g)].map(([name]) => name)),
];

/** Where helm was put by `npm run lint:packaging`, or the one of this machine. */
export function helmBinary(): string | undefined {
  const folders = [
    'node_modules/.cache/switchyard-tools/bin',
    ...(process.env.PATH ?? '').split(':'),
  ];
  return folders.map(folder => join(folder, 'helm')).find(existsSync);
}

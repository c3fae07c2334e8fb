import { readFileSync } from 'node:fs';
import { type FieldProblem, pathText } from '@switchyard/engine-api/field-problems.js';
import { Document, isCollection, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import { redacted } from './redaction.js';
import { StartError } from './start-error.js';

/** One thing wrong with the configuration. The message says how to fix it. */
export interface ConfigProblem {
  /**
   * `config/switchyard.yaml:12:9` (line and column) or the name of the
   * environment variable.
   */
  readonly origin: string;
  /**
   * `queue.max_requests`, `models[0].kind`; absent when the file as a whole is at fault.
   */
  readonly path?: string;
  /** The value as it is written in the file. */
  readonly value?: unknown;
  readonly message: string;
}

/** All problems at once, so that one start shows all of them. */
export class ConfigError extends StartError {
  override readonly name = 'ConfigError';

  constructor(readonly problems: readonly ConfigProblem[]) {
    super(
      `The configuration has ${problems.length} problem${problems.length === 1 ? '' : 's'}:\n` +
        problems.map(problem => `  ${problemText(problem)}`).join('\n'),
    );
  }
}

/** `config/models.yaml:3:5  models[0].id = "tts": what is wrong` */
export function problemText({ origin, path, value, message }: ConfigProblem): string {
  const what =
    path === undefined
      ? ''
      : `${path}${value === undefined ? '' : ` = ${JSON.stringify(value)}`}: `;
  return redacted(`${origin}  ${what}${message}`);
}

/** A file that a setting names. @throws ConfigError when it cannot be read */
export function readNamedFile(path: string, setting: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = `cannot be read (${code}); \`${setting}\` names it`;
    throw new ConfigError([{ origin: path, message }]);
  }
}

/** A parsed YAML file that knows the place of everything in it. */
export interface YamlFile {
  readonly document: Document;
  readonly problems: readonly ConfigProblem[];
  /** `config/models.yaml:12:5`, line and column as editors count them. */
  originOf(node: unknown): string;
}

/**
 * @returns undefined when there is no such file; one that cannot be read is a
 *   problem of it.
 */
export function readYamlFile(path: string, name: string): YamlFile | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    const problem = { origin: name, message: `cannot be read (${code})` };
    return { document: new Document(), problems: [problem], originOf: () => name };
  }
  return parseYaml(text, name);
}

/**
 * Never throws: what is wrong is in `problems`. @param name of the file, the beginning
 * of every origin
 */
export function parseYaml(text: string, name: string): YamlFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    uniqueKeys: true,
  });
  const at = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  return {
    document,
    problems: document.errors.map(error => ({
      origin: at(error.pos[0]),
      message: error.message,
    })),
    originOf: node => (isNode(node) && node.range ? at(node.range[0]) : name),
  };
}

/**
 * @returns the problem with line and column of the deepest part of its path that the file
 *   has; of an unknown field, of
 * its name
 */
export function placed(
  file: YamlFile,
  { node, path: prefix }: { readonly node: unknown; readonly path: string },
  { path, unknown, ...problem }: FieldProblem,
): ConfigProblem {
  return {
    origin: file.originOf(nodeAt(node, path, unknown)),
    path: pathText(path, prefix),
    ...problem,
  };
}

function nodeAt(start: unknown, path: FieldProblem['path'], atKey = false): unknown {
  let node = start;
  for (const [depth, key] of path.entries()) {
    const last = depth === path.length - 1;
    const pair =
      atKey && last && isMap(node) ? node.items.find(item => keyOf(item.key) === key) : undefined;
    const next: unknown = pair ? pair.key : isCollection(node) ? node.get(key, true) : undefined;
    if (next === undefined) break;
    node = next;
  }
  return node;
}

const keyOf = (key: unknown) => (isScalar(key) ? key.value : key);

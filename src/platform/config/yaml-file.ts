import { readFileSync } from 'node:fs';
import { Document, isNode, LineCounter, parseDocument } from 'yaml';
import { type ConfigProblem } from './config-problem.js';

/** A parsed YAML file that can tell the place of everything in it. */
export interface YamlFile {
  readonly document: Document;
  readonly problems: readonly ConfigProblem[];
  /** `config/models.yaml:12:5`, line and column as editors count them. */
  originOf(node: unknown): string;
}

/** @returns undefined when there is no such file; one that cannot be read is a problem of it. */
export function readYamlFile(path: string, name: string): YamlFile | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    const problem = { origin: name, message: `cannot be read (${code})` };
    return { document: new Document(), problems: [problem], originOf: () => name };
  }
  return parseYaml(text, name);
}

/** Never throws: what is wrong is in `problems`. @param name of the file, the beginning of every origin */
export function parseYaml(text: string, name: string): YamlFile {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: true });
  const at = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  return {
    document,
    problems: document.errors.map(error => ({ origin: at(error.pos[0]), message: error.message })),
    originOf: node => (isNode(node) && node.range ? at(node.range[0]) : name),
  };
}

import { readFileSync } from 'node:fs';
import { inRoot } from '../setup/command.mjs';
import { SetupError } from '../setup/report.mjs';

const LIST = 'test/mutants/mutants.jsonl';

/**
 * The list: one JSON array a line, [file, text that stands there once, what replaces it, specs that
 * notice (space between them), what would be wrong].
 * @throws SetupError when a text does not stand there exactly once
 */
export function committedMutants() {
  const lines = readFileSync(inRoot(LIST), 'utf8').trim().split('\n');
  return lines.map((json, at) => {
    const [file, text, replacement, specs, meaning] = JSON.parse(json);
    const source = readFileSync(inRoot(file), 'utf8');
    const start = source.indexOf(text);
    if (start < 0 || source.includes(text, start + 1))
      throw new SetupError(`${LIST}:${at + 1}: ${file} must have this once: ${text}`);
    return {
      ...{ file, start, end: start + text.length, replacement, meaning },
      ...{ line: lineOf(source, start), specs: specs.split(' ') },
    };
  });
}

export const lineOf = (source, position) => source.slice(0, position).split('\n').length;

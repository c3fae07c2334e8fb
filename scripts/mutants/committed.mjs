import { readFileSync } from 'node:fs';
import { inRoot } from '../setup/command.mjs';
import { SetupError } from '../setup/report.mjs';

const LIST = 'test/mutants/mutants.jsonl';
const EQUIVALENTS = 'test/mutants/equivalents.jsonl';

/**
 * The list: one JSON array a line, [file, text that stands there once, what replaces it, specs that
 * notice (space between them), what would be wrong].
 * @throws SetupError when a text does not stand there exactly once
 */
export const committedMutants = () =>
  changesOf(LIST, ([specs, meaning]) => ({ specs: specs.split(' '), meaning }));

/**
 * Changes that no caller can notice: [file, text that stands there once, what replaces it, why].
 * @throws SetupError when a text does not stand there exactly once
 */
export const equivalentMutants = () => changesOf(EQUIVALENTS, ([meaning]) => ({ meaning }));

function changesOf(list, rest) {
  const lines = readFileSync(inRoot(list), 'utf8').split('\n').filter(Boolean);
  return lines.map((json, at) => {
    const [file, text, replacement, ...others] = JSON.parse(json);
    const source = readFileSync(inRoot(file), 'utf8');
    const start = source.indexOf(text);
    if (start < 0 || source.includes(text, start + 1))
      throw new SetupError(`${list}:${at + 1}: ${file} must have this once: ${text}`);
    return {
      ...{ file, start, end: start + text.length, replacement },
      ...{ line: lineOf(source, start), ...rest(others) },
    };
  });
}

/** The file as the mutant makes it. */
export function changedSource({ file, start, end, replacement }) {
  const source = readFileSync(inRoot(file), 'utf8');
  return source.slice(0, start) + replacement + source.slice(end);
}

export const lineOf = (source, position) => source.slice(0, position).split('\n').length;

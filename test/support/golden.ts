import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { openApiDocument } from '../../scripts/console/openapi-document.js';
import { COMMAND_LINE, helpOf, leafCommands } from '../../scripts/docs/command-tree.js';
import { ERROR_REGISTRY } from '../../src/contracts/errors/error-registry.js';
import {
  environmentName,
  SETTING_PATHS,
  settingDefinition,
} from '../../src/platform/config/settings.js';
import { METRICS } from '../../src/platform/metrics/registry.js';
import { filesBelow, SPECS } from './repository-files.js';

/**
 * What users and other programs depend on. A change of the code that is not meant to
 * change it leaves it byte-equal.
 */
const FACES: Readonly<Record<string, () => string | Promise<string>>> = {
  'openapi.json': async () => json(sorted(await openApiDocument())),
  'errors.json': () => json(ERROR_REGISTRY),
  'metrics.json': () => json(METRICS),
  'settings.json': () => json(SETTING_PATHS.map(settingFace)),
  'cli-help.txt': () =>
    leafCommands(COMMAND_LINE)
      .map(({ words, command }) => `# switchyard ${words}\n${helpOf(command)}\n`)
      .join('\n'),
  'events.md': () => readFileSync('docs/reference/events.md', 'utf8'),
  'proto.json': protoDescriptors,
};

export const GOLDEN_NAMES: readonly string[] = Object.keys(FACES);

/** The text that belongs into `test/golden/NAME`. */
export async function goldenText(name: string): Promise<string> {
  const face = FACES[name];
  if (!face) throw new Error(`no golden file ${name}; known: ${GOLDEN_NAMES.join(', ')}`);
  return face();
}

/**
 * `describe › it` of every spec, sorted, each once. Template titles stand as
 * they are written.
 */
export function testTitles(): readonly string[] {
  const specs = filesBelow(['src', 'packages', 'test'], SPECS);
  return [...new Set(specs.flatMap(titlesIn))].sort();
}

function settingFace(path: (typeof SETTING_PATHS)[number]): object {
  const { default: value, allowed, help } = settingDefinition(path);
  return { path, variable: environmentName(path), default: value, allowed, help };
}

/**
 * Numbers, names and types of every message and method; without comments and places
 * in the files.
 */
function protoDescriptors(): string {
  const args = ['build', 'proto', '--exclude-source-info', '-o', '-#format=json'];
  return json(
    JSON.parse(
      execFileSync('node_modules/.bin/buf', args, {
        encoding: 'utf8',
        maxBuffer: 1 << 26,
      }),
    ),
  );
}

const SUITES = new Set(['describe', 'describe.each', 'describe.skipIf']);
const CASES = new Set(['it', 'it.each', 'test', 'test.each']);

function titlesIn(file: string): readonly string[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(file, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const titles: string[] = [];
  const visit = (node: ts.Node, above: readonly string[]): void => {
    const [kind, title] = ts.isCallExpression(node) ? titled(node, source) : [];
    if (kind === 'case') titles.push([...above, title].join(' › '));
    const inside = kind === 'suite' ? [...above, title ?? ''] : above;
    ts.forEachChild(node, child => visit(child, inside));
  };
  visit(source, []);
  return titles;
}

/** `it('…')`, `it.each(rows)('…')` and tagged templates of these. */
function titled(
  call: ts.CallExpression,
  source: ts.SourceFile,
): readonly [('suite' | 'case')?, string?] {
  const callee = called(call.expression).getText(source);
  const kind = SUITES.has(callee) ? 'suite' : CASES.has(callee) ? 'case' : undefined;
  const [first] = call.arguments;
  if (!kind || !first || !isTitle(first)) return [];
  return [kind, first.getText(source).slice(1, -1).replaceAll(/\s+/g, ' ')];
}

function called(expression: ts.Expression): ts.Expression {
  if (ts.isCallExpression(expression)) return expression.expression;
  return ts.isTaggedTemplateExpression(expression) ? expression.tag : expression;
}

const isTitle = (node: ts.Node): boolean =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);

const json = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;

/** Keys in order: where a controller stands in its module must not matter. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

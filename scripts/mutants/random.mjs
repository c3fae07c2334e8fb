import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { HOME, inRoot } from '../setup/command.mjs';
import { lineOf } from './committed.mjs';

const FOLDERS = ['src/gateway', 'src/platform', 'src/batch'];
/** What only wires or describes: no behaviour of its own. */
const LEFT_OUT =
  /\.(spec|module|metrics|openapi|dto|d)\.ts$|\/openapi\/|-settings\.ts$|\/console\//;
/** Specs of built programs run what is in `dist/`. */
const FAR = /^test\/(e2e|smoke|chaos|night|real|bench|costs|conformance|architecture)\//;
const MOST_SPECS = 4;

const { SyntaxKind: Kind } = ts;
const SWAPS = new Map([
  [Kind.LessThanToken, '<='],
  [Kind.LessThanEqualsToken, '<'],
  [Kind.GreaterThanToken, '>='],
  [Kind.GreaterThanEqualsToken, '>'],
  [Kind.EqualsEqualsEqualsToken, '!=='],
  [Kind.ExclamationEqualsEqualsToken, '==='],
  [Kind.AmpersandAmpersandToken, '||'],
  [Kind.BarBarToken, '&&'],
  [Kind.PlusToken, '-'],
  [Kind.MinusToken, '+'],
]);

/** The same places for the same seed and sources. */
export function randomMutants(count, seed) {
  const files = FOLDERS.flatMap(folder => globSync(`${folder}/**/*.ts`, { cwd: HOME }))
    .filter(file => !LEFT_OUT.test(file))
    .sort();
  const nearest = nearestSpecs();
  const all = files.flatMap(file => {
    const specs = nearest(file);
    return specs.length === 0 ? [] : mutantsOf(file).map(mutant => ({ ...mutant, specs }));
  });
  const random = randomFrom(seed);
  const drawn = [];
  while (drawn.length < count && all.length > 0)
    drawn.push(...all.splice(Math.floor(random() * all.length), 1));
  return drawn;
}

function mutantsOf(file) {
  const text = readFileSync(inRoot(file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const mutants = [];
  const add = (node, replacement) => {
    const [start, end] = [node.getStart(source), node.getEnd()];
    const meaning = `${shown(text.slice(start, end))} → ${shown(replacement) || '(nothing)'}`;
    mutants.push({ file, line: lineOf(text, start), start, end, replacement, meaning });
  };
  const visit = node => {
    change(node, text, add);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mutants;
}

function change(node, text, add) {
  if (isLog(node)) return;
  if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
    const condition = node.expression ?? node.condition;
    add(condition, `!(${condition.getText()})`);
  }
  if (ts.isBinaryExpression(node) && SWAPS.has(node.operatorToken.kind) && !isText(node))
    add(node.operatorToken, SWAPS.get(node.operatorToken.kind));
  if (node.kind === Kind.TrueKeyword && !ts.isLiteralTypeNode(node.parent)) add(node, 'false');
  if (node.kind === Kind.FalseKeyword && !ts.isLiteralTypeNode(node.parent)) add(node, 'true');
  if (
    ts.isNumericLiteral(node) &&
    ['0', '1', '2'].includes(node.text) &&
    !ts.isLiteralTypeNode(node.parent)
  )
    add(node, String(Number(node.text) + 1));
  if (isDroppable(node)) add(node, ';');
}

/** A call for its effect. */
const isDroppable = node =>
  ts.isExpressionStatement(node) && calledIn(node.expression) && !isSuper(node.expression);

const calledIn = expression =>
  ts.isVoidExpression(expression) || ts.isAwaitExpression(expression)
    ? calledIn(expression.expression)
    : ts.isCallExpression(expression) && expression;

const isSuper = expression => calledIn(expression)?.expression?.kind === Kind.SuperKeyword;

/** Lines of the log are not behaviour. */
const isLog = node => {
  const call = ts.isExpressionStatement(node) && calledIn(node.expression);
  return call && /[lL]og(ger)?\.\w+$/.test(call.expression.getText());
};

/** Texts are joined by +, not summed. */
const isText = ({ left, right }) =>
  [left, right].some(side => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side));

const shown = code => code.replace(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, 60);

/** The spec beside a file first, then those that import it, then those that import its users. */
function nearestSpecs() {
  const users = new Map();
  const sources = globSync('{src,test,packages}/**/*.ts', {
    cwd: HOME,
    exclude: name => name === 'node_modules',
  }).filter(file => !FAR.test(file));
  for (const file of sources) {
    const text = readFileSync(inRoot(file), 'utf8');
    for (const [, path] of text.matchAll(/from '(\.[^']+)\.js'/g)) {
      const used = relative(HOME, resolve(HOME, dirname(file), `${path}.ts`));
      users.set(used, [...(users.get(used) ?? []), file]);
    }
  }
  const isSpec = name => name.endsWith('.spec.ts');
  return file => {
    const beside = file.replace(/\.ts$/, '.spec.ts');
    const direct = users.get(file) ?? [];
    const indirect = direct.filter(user => !isSpec(user)).flatMap(user => users.get(user) ?? []);
    const found = [...direct, ...indirect].filter(isSpec);
    const area = file.split('/')[2];
    const behaviours = globSync(`test/integration/${area}/*.spec.ts`, { cwd: HOME }).sort();
    const named = behaviours.filter(spec => related(spec, file));
    const ordered = [...(existsSync(inRoot(beside)) ? [beside] : []), ...found, ...named];
    const near = [...new Set(ordered)];
    return (near.length > 0 ? near : behaviours).slice(0, MOST_SPECS).map(spec => join(spec));
  };
}

/** Both are called after the same thing. */
function related(spec, file) {
  const words = name =>
    basename(name)
      .split(/[-.]/)
      .filter(word => word.length > 3 && word !== 'spec');
  return words(spec).some(word => words(file).includes(word));
}

/** Mulberry32: from 0 to 1, the same numbers for the same seed. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

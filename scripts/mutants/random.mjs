import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { HOME, inRoot } from '../setup/command.mjs';
import { changedSource, equivalentMutants, lineOf } from './committed.mjs';

const FOLDERS = ['src/gateway', 'src/platform', 'src/batch'];
/** What only wires or describes: no behaviour of its own. */
const LEFT_OUT =
  /\.(spec|module|metrics|openapi|dto|d)\.ts$|\/openapi\/|-settings\.ts$|\/console\//;
/** Specs of built programs run what is in `dist/`. */
const FAR = /^test\/(e2e|smoke|chaos|night|real|bench|costs|conformance|architecture)\//;
const MOST_SPECS = 6;
/** Of these, unit specs. Further ones of a folder rarely run the changed file. */
const MOST_NEAR = 3;

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
  const all = files.flatMap(mutantsOf);
  const random = randomFrom(seed);
  const drawn = [];
  while (drawn.length < count && all.length > 0)
    drawn.push(...all.splice(Math.floor(random() * all.length), 1));
  const equivalents = new Set(equivalentMutants().map(changedSource));
  return drawn.map(({ place, ...mutant }) => ({
    ...mutant,
    specs: nearest(mutant.file, place),
    isEquivalent: equivalents.has(changedSource(mutant)),
  }));
}

function mutantsOf(file) {
  const text = readFileSync(inRoot(file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const mutants = [];
  const add = (node, replacement) => {
    const [start, end] = [node.getStart(source), node.getEnd()];
    const meaning = `${shown(text.slice(start, end))} → ${shown(replacement) || '(nothing)'}`;
    const place = around(node).getText(source);
    mutants.push({ file, line: lineOf(text, start), start, end, replacement, meaning, place });
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

/** The method, function or constant that a node is in. */
function around(node) {
  const isPlace =
    ts.isClassElement(node) || node.parent === undefined || ts.isSourceFile(node.parent);
  return isPlace ? node : around(node.parent);
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

/**
 * Of the specs that run a file: first that beside it, those that import it and those in its folder,
 * three at most; then those of all whose words are most its own, those of the changed place above
 * all: mostly integration specs. Specs of built programs are left out: what they run is in `dist/`.
 */
function nearestSpecs() {
  const sources = globSync('{src,test,packages}/**/*.ts', {
    cwd: HOME,
    exclude: name => name === 'node_modules',
  }).filter(file => !FAR.test(file));
  const texts = new Map(sources.map(file => [file, readFileSync(inRoot(file), 'utf8')]));
  const users = new Map();
  for (const [file, text] of texts)
    for (const [, path] of text.matchAll(/(?:from |import\()'(\.[^']+)\.js'/g)) {
      const used = relative(HOME, resolve(HOME, dirname(file), `${path}.ts`));
      users.set(used, [...(users.get(used) ?? []), file]);
    }
  const ofPrograms = reachedFrom(PROGRAMS, users);
  const isOfSources = file => !ofPrograms.has(file) || HOSTED.test(texts.get(file));
  const specs = sources.filter(file => file.endsWith('.spec.ts') && isOfSources(file));
  const wordsOf = new Map(specs.map(file => [file, new Set(wordsIn(texts.get(file)))]));
  const rarity = rarityOf([...wordsOf.values()]);
  return (file, place) => {
    const reached = reachedFrom([file], users);
    const wanted = new Map(wordsIn(texts.get(file)).map(word => [word, 1]));
    for (const word of wordsIn(place)) wanted.set(word, PLACE_WEIGHT);
    const likeness = spec => {
      const words = wordsOf.get(spec);
      let sum = 0;
      for (const [word, weight] of wanted) if (words.has(word)) sum += weight * rarity(word);
      const isOfArea = dirname(file)
        .split('/')
        .some(part => dirname(spec).split('/').slice(2).includes(part));
      const isNamedAlike = nameWords(file).some(word => nameWords(spec).includes(word));
      const factor = (isOfArea ? AREA_WEIGHT : 1) * (isNamedAlike ? NAME_WEIGHT : 1);
      return (sum / Math.sqrt(words.size)) * factor;
    };
    const direct = new Set(users.get(file));
    const rankOf = spec => {
      if (spec === file.replace(/\.ts$/, '.spec.ts')) return 3;
      return direct.has(spec) ? 2 : dirname(spec) === dirname(file) ? 1 : 0;
    };
    const scores = new Map(specs.map(spec => [spec, likeness(spec)]));
    const alike = specs
      .filter(spec => reached.has(spec))
      .sort((a, b) => scores.get(b) - scores.get(a));
    const near = alike
      .filter(spec => rankOf(spec) > 0)
      .sort((a, b) => rankOf(b) - rankOf(a))
      .slice(0, MOST_NEAR);
    return [...new Set([...near, ...alike])].slice(0, MOST_SPECS).map(spec => join(spec));
  };
}

/** Files, and all that import them, or what does. */
function reachedFrom(files, users) {
  const reached = new Set(files);
  for (const file of reached) for (const user of users.get(file) ?? []) reached.add(user);
  return reached;
}

/** What a program of `dist/` is started with. */
const PROGRAMS = ['test/support/node-process.ts', 'test/support/product.ts'];
/** A spec that could start programs runs what they are made of in its own process. */
const HOSTED = /\b(host|hosted|runHere)\b/;
/** A word of the changed place counts as so many of the rest of its file. */
const PLACE_WEIGHT = 4;
/** A spec whose folder is called after one of the file counts as so much more alike. */
const AREA_WEIGHT = 1.5;
/** The same for a word of its file's name. */
const NAME_WEIGHT = 1.5;

const nameWords = file => basename(file).replace(/\..*/, '').split('-');

/** Names and texts, also those of which they are made. */
const wordsIn = text =>
  [...text.matchAll(/[A-Za-z_$][\w$-]{4,}/g)]
    .flatMap(([name]) => [
      name,
      ...name.split(/[-_]|(?<=[a-z])(?=[A-Z])/).filter(word => word.length > 4),
    ])
    .map(word => word.toLowerCase());

/** A word that few specs have tells more. */
function rarityOf(sets) {
  const counts = new Map();
  for (const set of sets) for (const word of set) counts.set(word, (counts.get(word) ?? 0) + 1);
  return word => Math.log(sets.length / (counts.get(word) ?? sets.length)) ** 2;
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

import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import ts from 'typescript';
import { heavyFunctions } from './code-size.js';
import { filesBelow, SOURCES, SPECS } from './repository-files.js';

const sources = (): readonly string[] => filesBelow(['packages', 'src'], SOURCES);

/** Specs beside the code that are named for none of its files. Those of a behaviour stand in `test/`. */
export const orphanSpecs = (): readonly string[] =>
  filesBelow(['packages', 'src'], SPECS).filter(
    spec => !existsSync(spec.replace(/\.spec\.ts$/, '.ts')),
  );

/** Functions longer than 40 lines or with more than 10 ways through them. */
export const longOrComplexFunctions = (): readonly string[] => heavyFunctions(sources());

const LONGEST_FILE = 350;

/** Sources and their specs with more lines than are read in one go, each with their number. */
export const longFiles = (): readonly string[] =>
  [...sources(), ...filesBelow(['packages', 'src'], SPECS)]
    .map(file => ({ file, lines: readFileSync(file, 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > LONGEST_FILE)
    .map(({ file, lines }) => `${file} ${lines}`);

/** Sources of three classes and more. */
export const filesOfManyClasses = (): readonly string[] =>
  sources().filter(file => {
    const text = readFileSync(file, 'utf8');
    return (text.match(/^(?:export )?(?:abstract )?class /gm) ?? []).length >= 3;
  });

/**
 * `Class.field` of fields that code outside the class assigns, with the places: who
 * changes state has to ask its owner.
 */
export function fieldsWrittenFromOutside(): Readonly<Record<string, readonly string[]>> {
  const program = ownProgram();
  const checker = program.getTypeChecker();
  const found: Record<string, string[]> = {};
  for (const source of program.getSourceFiles()) {
    const visit = (node: ts.Node): void => {
      const field = assigned(node);
      const owner = field && ownerOf(checker.getSymbolAtLocation(field.name)?.valueDeclaration);
      if (field && owner && owner !== classAround(field)) {
        const { line } = source.getLineAndCharacterOfPosition(field.getStart(source));
        const name = `${owner.name?.text}.${field.name.text}`;
        (found[name] ??= []).push(`${source.fileName}:${line + 1}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

/** The field of another object that `node` assigns, counts up or down, or deletes. */
function assigned(node: ts.Node): ts.PropertyAccessExpression | undefined {
  const target =
    (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind) && node.left) ||
    ((ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) &&
      COUNTS.includes(node.operator) &&
      node.operand) ||
    (ts.isDeleteExpression(node) && node.expression);
  if (!target || !ts.isPropertyAccessExpression(target)) return undefined;
  return target.expression.kind === ts.SyntaxKind.ThisKeyword ? undefined : target;
}

const COUNTS: readonly ts.SyntaxKind[] = [
  ts.SyntaxKind.PlusPlusToken,
  ts.SyntaxKind.MinusMinusToken,
];

const isAssignment = (kind: ts.SyntaxKind): boolean =>
  kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;

/** The class that declares a field. Setters are methods. */
const ownerOf = (field: ts.Declaration | undefined): ts.ClassLikeDeclaration | undefined =>
  field && (ts.isPropertyDeclaration(field) || ts.isParameter(field))
    ? classAround(field)
    : undefined;

function classAround(node: ts.Node): ts.ClassLikeDeclaration | undefined {
  let around: ts.Node | undefined = node;
  while (around && !ts.isClassLike(around)) around = around.parent;
  return around;
}

/**
 * Promises that are begun and waited for after something else: if that fails, nobody waits for
 * them, and their own failure ends the process. Those with a `catch` of their own are none.
 */
export function promisesAwaitedLate(): readonly string[] {
  const found: string[] = [];
  for (const file of sources()) {
    const text = readFileSync(file, 'utf8');
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isFunctionLike(node) && 'body' in node && node.body)
        for (const begun of begunBeforeOthers(node.body)) {
          const { line } = source.getLineAndCharacterOfPosition(begun.pos);
          found.push(`${file}:${line + 1} ${begun.name.getText(source)}`);
        }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

/** Of one function, not of those inside of it. */
function begunBeforeOthers(body: ts.Node): readonly ts.VariableDeclaration[] {
  const begun: ts.VariableDeclaration[] = [];
  const awaited: ts.AwaitExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) return;
    if (ts.isAwaitExpression(node)) awaited.push(node);
    if (ts.isVariableDeclaration(node) && node.initializer && ts.isCallExpression(node.initializer))
      begun.push(node);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(body, visit);
  return begun.filter(({ name, end }) => {
    const isIt = ({ expression }: ts.AwaitExpression) => expression.getText() === name.getText();
    const later = awaited.filter(({ pos }) => pos >= end).sort((a, b) => a.pos - b.pos);
    const isLate = later.findIndex(isIt) > 0;
    return isLate && !body.getText().includes(`${name.getText()}.catch(`);
  });
}

/** The sources without the packages that they use, which takes a third of the time. */
function ownProgram(): ts.Program {
  const options: ts.CompilerOptions = { target: ts.ScriptTarget.Latest, noLib: true, types: [] };
  const host = ts.createCompilerHost(options);
  host.resolveModuleNameLiterals = (names, from) =>
    names.map(({ text }) => {
      const own = text.startsWith('@switchyard/')
        ? resolve(text.replace('@switchyard', 'packages'))
        : text.startsWith('.') && resolve(dirname(from), text);
      const resolvedFileName = own && own.replace(/\.js$/, '.ts');
      return {
        resolvedModule: resolvedFileName ? { resolvedFileName, extension: '.ts' } : undefined,
      };
    });
  return ts.createProgram(sources(), options, host);
}

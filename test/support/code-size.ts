import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';

/**
 * What there is to read, of one area or of everything. Comments and blank lines
 * do not count.
 */
export interface CodeSize {
  tokens: number;
  /** Lines that hold at least one token. */
  codeLines: number;
  exports: number;
  classes: number;
  /** Interfaces and type aliases. */
  types: number;
  /** Functions longer than 40 lines. */
  longFunctions: number;
  /** Functions with a cyclomatic complexity above 10. */
  complexFunctions: number;
}

const LONGEST_FUNCTION = 40;
const HIGHEST_COMPLEXITY = 10;
const K = ts.SyntaxKind;
const BRANCHES = new Set([
  K.IfStatement,
  K.ForStatement,
  K.ForInStatement,
  K.ForOfStatement,
  K.WhileStatement,
  K.DoStatement,
  K.CaseClause,
  K.CatchClause,
  K.ConditionalExpression,
]);
const CHOICES = new Set([
  K.AmpersandAmpersandToken,
  K.BarBarToken,
  K.QuestionQuestionToken,
  K.QuestionQuestionEqualsToken,
]);

/**
 * Size by area: two folders deep in `src` and `packages`; everything else that is no
 * test is `elsewhere`.
 */
export function sizeByArea(): Readonly<Record<string, CodeSize>> {
  const areas: Record<string, CodeSize> = {};
  const tracked = execFileSync('git', ['ls-files'], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
    .trim()
    .split('\n');
  for (const file of tracked.filter(isProductCode))
    add((areas[areaOf(file)] ??= nothing()), sizeOf(file));
  return areas;
}

export function sumOf(areas: readonly CodeSize[]): CodeSize {
  const sum = nothing();
  for (const area of areas) add(sum, area);
  return sum;
}

function isProductCode(file: string): boolean {
  if (!/\.(ts|tsx|mts|cts|js|mjs|cjs)$/.test(file) || file.endsWith('.d.ts')) return false;
  if (/(^|\/)(test|tests|__tests__|fixtures?|bench|generated)\//.test(file)) return false;
  return !/\.(spec|test)\./.test(file) && file !== 'console/src/api/schema.ts';
}

function areaOf(file: string): string {
  const parts = file.split('/');
  if (parts[0] !== 'src' && parts[0] !== 'packages') return 'elsewhere';
  return parts.length > 2 ? parts.slice(0, 2).join('/') : 'src';
}

const nothing = (): CodeSize => ({
  tokens: 0,
  codeLines: 0,
  exports: 0,
  classes: 0,
  types: 0,
  longFunctions: 0,
  complexFunctions: 0,
});

function add(sum: CodeSize, size: CodeSize): void {
  for (const name of Object.keys(sum) as (keyof CodeSize)[]) sum[name] += size[name];
}

function sizeOf(file: string): CodeSize {
  const source = ts.createSourceFile(
    file,
    readFileSync(file, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const size = nothing();
  countTokens(source, size);
  for (const statement of source.statements) size.exports += exportsOf(statement);
  countDeclarations(source, source, size);
  return size;
}

function countTokens(source: ts.SourceFile, size: CodeSize): void {
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    const children = node.getChildren(source).filter(child => !ts.isJSDoc(child));
    children.forEach(visit);
    if (children.length > 0 || node.kind >= K.FirstJSDocNode || node.end <= node.getStart(source))
      return;
    size.tokens += 1;
    lines.add(source.getLineAndCharacterOfPosition(node.getStart(source)).line);
  };
  source.statements.forEach(visit);
  size.codeLines = lines.size;
}

function exportsOf(statement: ts.Statement): number {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
  if (!modifiers?.some(({ kind }) => kind === K.ExportKeyword)) return 0;
  return ts.isVariableStatement(statement) ? statement.declarationList.declarations.length : 1;
}

/** Functions of `src` and `packages` beyond a limit: where they begin, lines, ways through them. */
export const heavyFunctions = (files: readonly string[]): readonly string[] =>
  files.flatMap(file => {
    const text = readFileSync(file, 'utf8');
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      if (isFunction(node) && node.body) {
        const lines = linesOf(node, source);
        const ways = complexity(node);
        const at = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
        if (lines > LONGEST_FUNCTION || ways > HIGHEST_COMPLEXITY)
          found.push(`${file}:${at}: ${lines} lines, ${ways} ways`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });

function linesOf(node: ts.Node, source: ts.SourceFile): number {
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
  return lineAt(node.end) - lineAt(node.getStart(source)) + 1;
}

function countDeclarations(node: ts.Node, source: ts.SourceFile, size: CodeSize): void {
  if (ts.isClassDeclaration(node)) size.classes += 1;
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) size.types += 1;
  if (isFunction(node) && node.body) {
    if (linesOf(node, source) > LONGEST_FUNCTION) size.longFunctions += 1;
    if (complexity(node) > HIGHEST_COMPLEXITY) size.complexFunctions += 1;
  }
  ts.forEachChild(node, child => countDeclarations(child, source, size));
}

function complexity(node: ts.Node): number {
  let branches = 1;
  const visit = (inner: ts.Node): void => {
    if (isFunction(inner)) return;
    const isChoice = ts.isBinaryExpression(inner) && CHOICES.has(inner.operatorToken.kind);
    if (BRANCHES.has(inner.kind) || isChoice) branches += 1;
    ts.forEachChild(inner, visit);
  };
  ts.forEachChild(node, visit);
  return branches;
}

type FunctionNode = ts.Node & { readonly body?: ts.Node };

const isFunction = (node: ts.Node): node is FunctionNode =>
  ts.isFunctionDeclaration(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isAccessor(node) ||
  ts.isConstructorDeclaration(node) ||
  ts.isArrowFunction(node) ||
  ts.isFunctionExpression(node);

import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { filesBelow } from '../support/repository-files.js';

const sources = filesBelow(['packages', 'src', 'test', 'scripts'], /\.ts$/);

const isPrivate = ({ kind }: ts.ModifierLike) => kind === ts.SyntaxKind.PrivateKeyword;

/** `file: name` of members that say `private` and have no decorator. */
function privateMembers(file: string, text: string) {
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isClassElement(node) && !ts.isConstructorDeclaration(node) && ts.canHaveModifiers(node))
      if (ts.getModifiers(node)?.some(isPrivate) && !hasDecorator(node))
        found.push(`${file}: ${node.name?.getText(source)}`);
    ts.forEachChild(node, visit);
  };
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  visit(source);
  return found;
}

const hasDecorator = (node: ts.Node) =>
  ts.canHaveDecorators(node) && (ts.getDecorators(node) ?? []).length > 0;

describe('private members', () => {
  it('are #name; `private` is for constructor parameters and decorated members', () => {
    expect(sources.length).toBeGreaterThan(1000);
    const texts = sources.map(file => [file, readFileSync(file, 'utf8')] as const);
    const suspects = texts.filter(([, text]) => /^\s+private\b/m.test(text));
    expect(suspects.flatMap(([file, text]) => privateMembers(file, text))).toEqual([]);
  });

  it('are found in every form', () => {
    const text = `class A {
      private field = 1; private method() {} private get read() { return 1 } #good = 1;
      @Inject() private decorated = 1; private static readonly shared = 1;
      private constructor(private readonly kept: number) {}
    }`;
    expect(privateMembers('a.ts', text)).toEqual(
      ['field', 'method', 'read', 'shared'].map(name => `a.ts: ${name}`),
    );
  });
});

import path from 'node:path';
import ts from 'typescript';
const t0 = performance.now();
const cfg = ts.getParsedCommandLineOfConfigFile(
  'tsconfig.json',
  { noEmit: true },
  { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} },
);
const roots = cfg.fileNames.filter(f => /\/(src|packages)\//.test(f) && !/\.spec\.ts$/.test(f));
const p = ts.createProgram(roots, { ...cfg.options, skipLibCheck: true });
const c = p.getTypeChecker();
const out = new Map(),
  inside = new Map();
let mut = 0;
const mutList = [];
const enclosing = n => {
  while (n && !ts.isClassLike(n)) n = n.parent;
  return n;
};
const A = ts.SyntaxKind.FirstAssignment,
  B = ts.SyntaxKind.LastAssignment;
const rel = f => path.relative(process.cwd(), f);
for (const sf of p.getSourceFiles()) {
  if (sf.isDeclarationFile || /node_modules|generated/.test(sf.fileName)) continue;
  const visit = n => {
    let t;
    if (ts.isBinaryExpression(n) && n.operatorToken.kind >= A && n.operatorToken.kind <= B)
      t = n.left;
    else if (
      (ts.isPrefixUnaryExpression(n) || ts.isPostfixUnaryExpression(n)) &&
      (n.operator === ts.SyntaxKind.PlusPlusToken || n.operator === ts.SyntaxKind.MinusMinusToken)
    )
      t = n.operand;
    else if (ts.isDeleteExpression(n)) t = n.expression;
    if (t && ts.isPropertyAccessExpression(t) && !ts.isPrivateIdentifier(t.name)) {
      const s = c.getSymbolAtLocation(t.name);
      const d = s?.valueDeclaration;
      if (
        (d && ts.isPropertyDeclaration(d)) ||
        (d && ts.isParameter(d)) ||
        (d && ts.isSetAccessor?.(d))
      ) {
        const cls = enclosing(d);
        const here = enclosing(t);
        if (!/node_modules/.test(d.getSourceFile().fileName) && cls) {
          const key = `${rel(d.getSourceFile().fileName)} ${cls.name?.text}.${t.name.text}`;
          let h = here,
            isOwn = false;
          while (h) {
            if (h === cls) isOwn = true;
            else {
              // subclass
              const base = h.heritageClauses?.find(x => x.token === ts.SyntaxKind.ExtendsKeyword)
                ?.types[0];
              let ty = base && c.getTypeAtLocation(base);
              while (ty?.symbol) {
                if (ty.symbol.valueDeclaration === cls) {
                  isOwn = true;
                  break;
                }
                const bt = c.getBaseTypes?.(ty) ?? [];
                ty = bt[0];
              }
            }
            h = enclosing(h.parent);
          }
          if (!isOwn)
            out.set(key, [
              ...(out.get(key) ?? []),
              `${rel(sf.fileName)}:${sf.getLineAndCharacterOfPosition(t.pos).line + 1}`,
            ]);
        }
      } else if (d && ts.isPropertySignature(d)) {
      }
    }
    if (
      ts.isPropertyDeclaration(n) &&
      !ts.isPrivateIdentifier(n.name) &&
      !(ts.getModifiers(n) ?? []).some(m =>
        [
          ts.SyntaxKind.ReadonlyKeyword,
          ts.SyntaxKind.PrivateKeyword,
          ts.SyntaxKind.ProtectedKeyword,
          ts.SyntaxKind.DeclareKeyword,
        ].includes(m.kind),
      ) &&
      !(ts.getDecorators(n) ?? []).length
    ) {
      mut++;
      mutList.push(`${rel(sf.fileName)} ${n.parent.name?.text}.${n.name.getText(sf)}`);
    }
    ts.forEachChild(n, visit);
  };
  visit(sf);
}
console.log('written outside', out.size);
for (const [k, v] of [...out].sort()) console.log(k, '<-', v.join(' '));
console.log('public mutable', mut);
if (process.argv[2]) for (const k of mutList) console.log('  ', k, out.has(k) ? 'W' : '');
console.log(((performance.now() - t0) / 1000).toFixed(1), 's');

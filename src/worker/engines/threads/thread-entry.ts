import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Where the entry module of a thread lies, seen from the module that starts it.
 *
 * Compiled, it is a neighbour. Under jest the sources run as TypeScript, which a worker thread cannot load, so the
 * compiled neighbour in `dist` is used: `npm test` builds first (README of this folder, "Threads and tests").
 */
export function threadEntry(relativePath: string, moduleUrl: string): URL {
  const entry = new URL(relativePath, moduleUrl);
  if (!moduleUrl.endsWith('.ts')) return entry;
  const at = entry.href.lastIndexOf('/src/');
  const compiled = new URL(`${entry.href.slice(0, at)}/dist/${entry.href.slice(at + '/src/'.length)}`);
  if (existsSync(fileURLToPath(compiled))) return compiled;
  throw new Error(`${fileURLToPath(compiled)} is missing: engine threads run compiled code; run \`npm run build\``);
}

import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Path of a module beside `importerUrl`, with the importer's own extension: benches run
 * compiled or as TypeScript.
 */
export function siblingModule(importerUrl: string, relativePath: string): string {
  const importer = fileURLToPath(importerUrl);
  return fileURLToPath(new URL(relativePath + extname(importer), importerUrl));
}

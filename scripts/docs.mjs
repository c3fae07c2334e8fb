import { existsSync } from 'node:fs';
import { command, inRoot } from './setup/command.mjs';
import { ensurePackages, nodeBinary } from './setup/packages.mjs';
import { runMain } from './setup/report.mjs';

/**
 * `npm run docs`: rewrites the tables of the documentation from the registries
 * in the sources.
 */
await runMain(async () => {
  await ensurePackages();
  const loader = inRoot('test/support/typescript-loader.mjs');
  const main = inRoot('scripts/docs/write-tables.ts');
  const { code } = await command(nodeBinary(), ['--import', loader, main], {
    show: true,
  });
  // The client of the console, where its packages are installed.
  if (code !== 0 || !existsSync(inRoot('console/node_modules'))) return code;
  const client = inRoot('scripts/console-client.ts');
  return (await command(nodeBinary(), ['--import', loader, client], { show: true })).code;
});

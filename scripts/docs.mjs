import { command, inRoot } from './setup/command.mjs';
import { ensurePackages, nodeBinary } from './setup/packages.mjs';
import { runMain } from './setup/report.mjs';

/** `npm run docs`: rewrites the tables of the documentation from the registries in the sources. */
await runMain(async () => {
  await ensurePackages();
  const loader = inRoot('test/support/typescript-loader.mjs');
  const main = inRoot('scripts/docs/write-tables.ts');
  return (await command(nodeBinary(), ['--import', loader, main], { show: true })).code;
});

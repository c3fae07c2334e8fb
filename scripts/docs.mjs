import { ensureBuild } from './setup/build.mjs';
import { command, inRoot } from './setup/command.mjs';
import { ensurePackages, nodeBinary } from './setup/packages.mjs';
import { runMain } from './setup/report.mjs';

/** `npm run docs`: rewrites the README's tables from the registries. */
await runMain(async () => {
  await ensurePackages();
  await ensureBuild();
  return (await command(nodeBinary(), [inRoot('dist/cli/readme-write.js')], { show: true })).code;
});

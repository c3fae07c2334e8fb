import { existsSync } from 'node:fs';
import { command, inRoot, toolEnvironment } from './setup/command.mjs';
import { ensurePackages, nodeBinary } from './setup/packages.mjs';
import { doing, runMain } from './setup/report.mjs';

const SITE = inRoot('docs/site');
const VITEPRESS = inRoot('docs/site/node_modules/vitepress/bin/vitepress.js');

/**
 * `npm run docs:site`: builds the manual as a static site with search into
 * docs/site/dist. A dead link fails it. Its packages are installed when they are missing;
 * they are not part of the project's own.
 */
await runMain(async () => {
  await ensurePackages();
  if (!existsSync(VITEPRESS)) {
    doing('installing', 'the packages of docs/site');
    const { code } = await command('npm', ['ci', '--prefix', SITE], { show: true });
    if (code !== 0) return code;
  }
  const env = toolEnvironment({ NODE_ENV: 'production' });
  return (await command(nodeBinary(), [VITEPRESS, 'build', SITE], { show: true, env })).code;
});

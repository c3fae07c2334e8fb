import { spawn } from 'node:child_process';
import { ensureBuild } from './setup/build.mjs';
import { inRoot, ROOT } from './setup/command.mjs';
import { ensurePackages, nodeBinary } from './setup/packages.mjs';
import { runMain } from './setup/report.mjs';

/** `npm run config:print`: the effective settings and where each came from. */
await runMain(async () => {
  await ensurePackages();
  await ensureBuild();
  const args = [inRoot('dist/main.cli.js'), 'config', 'print', ...process.argv.slice(2)];
  const child = spawn(nodeBinary(), args, { cwd: ROOT, stdio: 'inherit' });
  return new Promise(resolve => child.once('exit', code => resolve(code ?? 1)));
});

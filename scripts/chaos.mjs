import { ensureBuild } from './setup/build.mjs';
import { command, inRoot } from './setup/command.mjs';
import { nodeBinary } from './setup/packages.mjs';
import { runMain } from './setup/report.mjs';

/**
 * `npm run chaos`: seeded faults against the built product; see
 * test/chaos/seeded/README.md.
 */
await runMain(async () => {
  await ensureBuild();
  const main = [
    '--import',
    inRoot('test/support/typescript-loader.mjs'),
    inRoot('test/chaos/seeded/main.ts'),
  ];
  const started = child => process.on('SIGTERM', () => child.kill('SIGTERM'));
  return (
    await command(nodeBinary(), [...main, ...process.argv.slice(2)], {
      show: true,
      started,
    })
  ).code;
});

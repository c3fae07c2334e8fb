import { parseArgs } from 'node:util';
import { ensureNativeKernels, removeNativeKernels } from './setup/llama-kernels.mjs';
import { ensurePackages } from './setup/packages.mjs';
import { runMain, say } from './setup/report.mjs';

const HELP = `npm run llama:native
  Compiles llama.cpp for this machine's CPU from the source in the packages. Workers use it when they start.
  --remove   restore the binaries of the packages`;

await runMain(async () => {
  const { values } = parseArgs({ options: { remove: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help) return void say(HELP);
  await ensurePackages();
  await (values.remove ? removeNativeKernels() : ensureNativeKernels());
});

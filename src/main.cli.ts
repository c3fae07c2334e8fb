import { EXIT } from './cli/shared/cli-error.js';
import { productVersion } from './platform/process/product-version.js';

// A reader that stops early (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed),
);

async function run() {
  const { exitCodeOf, program } = await import('./cli/program.js');
  const loadEngines = async () => (await import('./worker/engine-factory.js')).ENGINE_CHECKS;
  try {
    await program(loadEngines).parseAsync();
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

// Scripts ask for it: without the commands, in a tenth of the time.
if (process.argv.slice(2).join() === '--version') process.stdout.write(`${productVersion()}\n`);
else await run();

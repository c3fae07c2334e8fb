import { exitCodeOf, program } from './cli/program.js';
import { EXIT } from './cli/shared/cli-error.js';
import { ENGINE_CHECKS } from './worker/engine-factory.js';

// A reader that stops early (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed),
);

try {
  await program(ENGINE_CHECKS).parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

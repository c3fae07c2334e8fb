import { exitCodeOf, program } from './cli/program.js';
import { EXIT } from './cli/shared/cli-error.js';

// A reader that stops early (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed),
);

try {
  const loadEngines = async () => (await import('./worker/engine-factory.js')).ENGINE_CHECKS;
  await (await program(loadEngines, process.argv.slice(2))).parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

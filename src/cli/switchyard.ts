import { EXIT } from './shared/cli-error.js';
import { exitCodeOf, program } from './program.js';

// A reader that stops early (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed),
);

try {
  await program().parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

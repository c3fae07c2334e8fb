import { Command } from 'commander';
import { isPackage } from './engines/engine-packages.js';
import { parseWholeNumber } from './shared/arguments.js';
import { CliError, EXIT } from './shared/cli-error.js';
import { examples } from './shared/examples.js';
import { runProgram } from './product-program.js';

interface UpOptions {
  readonly port?: number;
  readonly host?: string;
  readonly dev?: boolean;
}

const NOTES = `Settings come from switchyard.yaml of this folder, else from config/switchyard.yaml of the clone or,
with the npm package, of ~/.switchyard; variables SWITCHYARD_… override them. Ctrl-C drains: running requests finish,
then the workers stop.`;

export const upCommand = (): Command =>
  new Command('up')
    .description('start the gateway with its workers and print what to try')
    .option(
      '--port <number>',
      'listen on this port instead of server.port',
      parseWholeNumber(1, 65_535),
    )
    .option('--host <address>', 'listen on this address instead of server.host')
    .option(
      '--dev',
      'in a clone: install what is missing and build first, as npm run up does',
    )
    .addHelpText(
      'after',
      examples(['up', 'up --port 9000', 'up --host 0.0.0.0', 'up --dev'], NOTES),
    )
    .action(async ({ port, host, dev }: UpOptions) => {
      if (dev && isPackage())
        throw new CliError(
          '--dev builds a clone; the npm package is built: switchyard up',
          EXIT.usage,
        );
      const given = [
        ...(port === undefined ? [] : ['--port', String(port)]),
        ...(host ? ['--host', host] : []),
      ];
      process.exitCode = await runProgram('scripts/up.mjs', [
        ...(dev ? [] : ['--run']),
        ...given,
      ]);
    });

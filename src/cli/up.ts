import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { PRODUCT_FOLDER } from './engines/command.js';
import { parseWholeNumber } from './shared/arguments.js';
import { examples } from './shared/examples.js';

interface UpOptions {
  readonly port?: number;
  readonly host?: string;
  readonly dev?: boolean;
}

const NOTES = `Settings come from switchyard.yaml of this folder, else config/switchyard.yaml, and variables
SWITCHYARD_…. Ctrl-C drains: running requests finish, then the workers stop.`;

export const upCommand = (): Command =>
  new Command('up')
    .description('start the gateway with its workers and print what to try')
    .option('--port <number>', 'listen on this port instead of server.port', parseWholeNumber(1, 65_535))
    .option('--host <address>', 'listen on this address instead of server.host')
    .option('--dev', 'in a checkout: install what is missing and build first, as npm run up does')
    .addHelpText('after', examples(['up', 'up --port 9000', 'up --host 0.0.0.0', 'up --dev'], NOTES))
    .action(async ({ port, host, dev }: UpOptions) => {
      const given = [...(port === undefined ? [] : ['--port', String(port)]), ...(host ? ['--host', host] : [])];
      process.exitCode = await run([...(dev ? [] : ['--run']), ...given]);
    });

/** Ctrl-C reaches the whole group by the terminal; the child drains, so this process has to outlive it. */
async function run(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [join(PRODUCT_FOLDER, 'scripts/up.mjs'), ...args], { stdio: 'inherit' });
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return code ?? 128 + constants.signals[signal!];
}

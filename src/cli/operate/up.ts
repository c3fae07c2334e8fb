import { isPackage } from '../models/engines/engine-packages.js';
import { parseWholeNumber } from '../shared/arguments.js';
import { usageError } from '../shared/cli-error.js';
import { command } from '../shared/command.js';
import { runProgram } from '../shared/run-command.js';

const NOTES = `Settings come from switchyard.yaml of this folder, else from config/switchyard.yaml of the clone or,
with the npm package, of ~/.switchyard; variables SWITCHYARD_… override them. Ctrl-C drains: running requests finish,
then the workers stop.`;

export const upCommand = command('up', {
  about: 'start the gateway with its workers and print what to try',
  examples: ['up', 'up --port 9000', 'up --models starter', 'up --host 0.0.0.0', 'up --dev'],
  notes: NOTES,
  options: {
    '--port <number>': ['listen on this port instead of server.port', parseWholeNumber(1, 65_535)],
    '--host <address>': 'listen on this address instead of server.host',
    '--models <names>':
      'fetch models beside the running gateway: starter, none, or comma-separated names (default: none, with --dev starter)',
    '--dev': 'in a clone: install what is missing and build first, as npm run up does',
  },
  async run({ options: { port, host, models, dev } }) {
    if (dev && isPackage())
      throw usageError('--dev builds a clone; the npm package is built: switchyard up');
    const args = dev ? [] : ['--run'];
    if (port !== undefined) args.push('--port', String(port));
    if (host) args.push('--host', host);
    if (models) args.push('--models', models);
    process.exitCode = await runProgram('scripts/up.mjs', args);
  },
});

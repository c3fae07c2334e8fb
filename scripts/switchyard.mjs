#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { inRoot, ROOT } from './setup/command.mjs';
import { nodeBinary } from './setup/packages.mjs';
import { fail, runMain } from './setup/report.mjs';

/**
 * The `switchyard` command: runs the built one with the Node of this project. Works in the project's folder, as the
 * gateway does, so that both see the same configuration; names of files start where it was called (INIT_CWD).
 */
await runMain(() => {
  const main = inRoot('dist/cli/switchyard.js');
  if (!existsSync(main)) {
    fail('Switchyard is not built yet: npm run up, or npm ci && npm run build');
    return 2;
  }
  const here = process.cwd();
  const launchedFrom = `${here}/` === ROOT ? (process.env.INIT_CWD ?? here) : here;
  const child = spawn(nodeBinary(), [main, ...process.argv.slice(2)], {
    cwd: ROOT,
    env: { ...process.env, INIT_CWD: launchedFrom },
    stdio: 'inherit',
  });
  // Ctrl-C reaches the child by the terminal; what is sent to this process alone is passed on.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise(resolve =>
    child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 1))),
  );
});

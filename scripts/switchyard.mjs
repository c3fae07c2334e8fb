#!/usr/bin/env node
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { environment, HOME, inRoot, ROOT } from './setup/command.mjs';
import { ensureHome } from './setup/home.mjs';
import { stopWithNpm } from './setup/npm-parent.mjs';
import { nodeBinary } from './setup/packages.mjs';
import { fail, runMain } from './setup/report.mjs';

const CONFIG = 'switchyard.yaml';

/**
 * Working folder and environment; a settings file that the environment names has been
 * chosen by the caller.
 */
async function placeOf(launchedFrom) {
  const env = { ...environment(), INIT_CWD: launchedFrom };
  // Its name, and the names in it, start where the caller is.
  if (process.env.SWITCHYARD_CONFIG) return { cwd: launchedFrom, env };
  if (existsSync(join(launchedFrom, CONFIG)))
    return { cwd: launchedFrom, env: { ...env, SWITCHYARD_CONFIG: CONFIG } };
  await ensureHome();
  return { cwd: HOME, env };
}

/**
 * The `switchyard` command: runs the built one with the Node of this project. A
 * folder with a `switchyard.yaml` is a gateway of its own; elsewhere it works in the
 * project's folder, or the one that the npm package keeps for its user, as the
 * gateway does, so that both see the same configuration. Names of files start where
 * it was called (INIT_CWD).
 */
await runMain(async () => {
  const main = inRoot('dist/main.cli.js');
  if (!existsSync(main)) {
    fail('Switchyard is not built yet: npm run up, or npm ci && npm run build');
    return 2;
  }
  const here = process.cwd();
  const launchedFrom = `${here}/` === ROOT ? (process.env.INIT_CWD ?? here) : here;
  const child = spawn(nodeBinary(), [main, ...process.argv.slice(2)], {
    ...(await placeOf(launchedFrom)),
    stdio: 'inherit',
  });
  // Ctrl-C reaches the child by the terminal; what is sent to this process alone
  // is passed on.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  stopWithNpm();
  return new Promise(resolve =>
    child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 1))),
  );
});

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const inRoot = (...parts) => join(ROOT, ...parts);

/**
 * Installed from npm: built, and without the tools that build it. npm
 * publishes no lockfile.
 */
export const IS_PACKAGE = !existsSync(inRoot('package-lock.json'));

const named = process.env.SWITCHYARD_HOME;

/** As it is now, without the variable that is no setting of the product. */
export function environment() {
  const { SWITCHYARD_HOME: _, ...others } = process.env;
  return others;
}

/**
 * Working folder of the product: configuration and data. The package's own is replaced
 * by each upgrade.
 */
export const HOME = IS_PACKAGE ? resolve(named ?? join(homedir(), '.switchyard')) : ROOT;

/** Finds the project's tools, and its Node, before the system's. */
export const toolEnvironment = (extra = {}) => ({
  ...environment(),
  PATH: [inRoot('node_modules/.bin'), process.env.PATH].join(delimiter),
  ...extra,
});

/**
 * Runs a command, in the project root unless `cwd` says otherwise. `show: true` lets it
 * write to this terminal; otherwise its output is kept and returned. `detached` gives it a process
 * group of its own. `started` receives the child process.
 * @returns {Promise<{code: number, output: string}>} code 127 when there is
 *   no such command
 */
export function command(
  file,
  args,
  { show = false, env = toolEnvironment(), cwd = ROOT, detached = false, started } = {},
) {
  return new Promise(resolve => {
    // Both streams of a shown command go to stderr: stdout carries results only.
    const child = spawn(file, args, {
      cwd,
      env,
      detached,
      stdio: ['ignore', show ? 2 : 'pipe', show ? 2 : 'pipe'],
    });
    started?.(child);
    const chunks = [];
    child.stdout?.on('data', chunk => chunks.push(chunk));
    child.stderr?.on('data', chunk => chunks.push(chunk));
    child.on('error', error => resolve({ code: 127, output: error.message }));
    child.on('close', (code, signal) =>
      resolve({
        code: code ?? 1,
        output: Buffer.concat(chunks).toString() + (signal ? `\nended by ${signal}` : ''),
      }),
    );
  });
}

export const lastLines = output => output.trim().split('\n').slice(-5).join('\n');

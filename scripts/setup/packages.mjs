import { existsSync, readFileSync } from 'node:fs';
import { command, inRoot } from './command.mjs';
import { doing, done, SetupError } from './report.mjs';

const NODE_MIN = [22, 12];

/**
 * Installs the npm packages when they are missing or another set than the lockfile names.
 */
export async function ensurePackages({ install = true } = {}) {
  const why = packagesProblem();
  if (!why) return done('npm packages', 'match package-lock.json');
  if (!install) throw new SetupError(`npm packages: ${why}. Run: npm ci`);
  doing('npm ci', `installs the npm packages into node_modules: ${why}`);
  const { code } = await command('npm', ['ci', '--loglevel=error'], {
    show: true,
    env: process.env,
  });
  if (code !== 0)
    throw new SetupError('npm ci failed; its messages are above. It can be run again at any time.');
  done('npm packages', 'installed');
}

/** @returns why the packages must be installed, or undefined */
function packagesProblem() {
  const wanted = readPackages(inRoot('package-lock.json'));
  const present = readPackages(inRoot('node_modules/.package-lock.json'));
  if (!wanted) throw new SetupError('package-lock.json is missing or damaged; restore it with git');
  if (!present) return 'there are none yet';
  const differs = Object.entries(wanted).find(
    // Optional packages are those of other systems: npm leaves them out.
    ([path, { version, optional }]) => path && !optional && present[path]?.version !== version,
  );
  return differs && `${differs[0].replace(/^node_modules\//, '')} should be ${differs[1].version}`;
}

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/**
 * The Node that runs Switchyard: the one npm installed, else this one when it
 * is new enough.
 */
export function nodeBinary() {
  const installed = inRoot('node_modules/.bin/node');
  if (existsSync(installed)) return installed;
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]))
    return process.execPath;
  throw new SetupError(
    `No Node for ${process.platform}-${process.arch} came with the packages, and ${process.version} is too old: ` +
      `install Node ${NODE_MIN.join('.')} or newer.`,
  );
}

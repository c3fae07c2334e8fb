import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { gpuPackage, LLAMA_PACKAGE } from '@switchyard/engine-llama-cpp/binaries.js';
import { CliError, EXIT } from '../../shared/cli-error.js';
import {
  demandSuccess,
  type Installing,
  lastLines,
  NPM_INSTALL,
  PRODUCT_FOLDER,
  runCommand,
} from '../../shared/run-command.js';
import { ENGINE_TABLE } from './engine-table.js';

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly dependencies: Readonly<Record<string, string>>;
    readonly optionalDependencies?: Readonly<Record<string, string>>;
    /**
     * Of the npm package `switchyard-gateway` only, which leaves the packages of engines
     * to `engines install`.
     */
    readonly engineDependencies?: Readonly<Record<string, string>>;
  };

/**
 * Whether this is the npm package, built and without the packages of engines, and
 * not a clone.
 */
export const isPackage = (product = PRODUCT_FOLDER): boolean =>
  manifestOf(product).engineDependencies !== undefined;

/**
 * The `node_modules` with the packages of engines: in a clone the one of all packages,
 * else one of their own.
 */
export const engineModules = (product = PRODUCT_FOLDER): string =>
  join(product, ...(isPackage(product) ? ['engines'] : []), 'node_modules');

/** Engines whose npm packages can be installed. */
export const PACKAGED_ENGINES: readonly string[] = Object.keys(ENGINE_TABLE).filter(
  name => ENGINE_TABLE[name]?.npm,
);

/** @returns the version of an engine's main package; undefined if it is not installed */
export function engineVersion(engine: string, product = PRODUCT_FOLDER): string | undefined {
  const [main = ''] = ENGINE_TABLE[engine]?.npm ?? [];
  return installedVersion(main, engineModules(product));
}

export function installedVersion(name: string, modules: string): string | undefined {
  try {
    return manifestOf(join(modules, name)).version;
  } catch {
    return undefined;
  }
}

/**
 * Brings the npm packages of an engine at the versions of this release, beside those of
 * other engines. npm leaves everything as it was when it fails. Nothing is done where
 * they are there.
 */
export async function installEnginePackages(
  engine: string,
  { report, run = runCommand, signal }: Installing,
  product = PRODUCT_FOLDER,
): Promise<void> {
  const manifest = manifestOf(product);
  const { dependencies, optionalDependencies, engineDependencies } = manifest;
  const modules = engineModules(product);
  const names = ENGINE_TABLE[engine]?.npm ?? [];
  const versions = engineDependencies ?? { ...dependencies, ...optionalDependencies };
  // The lockfile has the builds of llama.cpp for Linux; all have one version.
  const versionOf = (name: string) =>
    versions[name] ?? (name === LLAMA_PACKAGE ? versions[gpuPackage('linux-x64')] : undefined);
  const named = (name: string) => `${name}@${versionOf(name) ?? ''}`;
  const wanted = names.map(named);
  const isThere = (name: string) => installedVersion(name, modules) === versionOf(name);
  const missing = names.filter(name => !isThere(name)).map(named);
  if (missing.length === 0) return report(`${engine}: ${wanted.join(' ')} is in ${modules}`);
  if (!engineDependencies)
    throw new CliError(
      names.every(name => versions[name])
        ? `${missing.join(' ')} comes with the packages of a clone: npm ci`
        : `${missing.join(' ')} is not in package-lock.json: npm install --no-save ${missing.join(' ')}`,
    );
  const folder = dirname(modules);
  report(`${engine}: ${missing.join(' ')} by npm, into ${folder}`);
  await asOwner(folder, () => prepare(folder));
  const npm = [...NPM_INSTALL, '--save-exact', ...wanted];
  const { code, output } = await run('npm', npm, { cwd: folder, signal });
  if (code !== 0) throw npmFailure(output);
  for (const name of names) await asOwner(folder, () => link(name, product));
  report(`${engine} is installed; workers load it when they start`);
}

async function prepare(folder: string) {
  await mkdir(folder, { recursive: true });
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) await writeFile(manifest, '{ "private": true }');
}

/**
 * Where the built code finds it. Only what it names itself: what that needs stays apart
 * from our own packages.
 */
async function link(name: string, product: string) {
  const place = join(product, 'dist', 'node_modules', name);
  await mkdir(dirname(place), { recursive: true });
  const target = join(engineModules(product), name);
  if (!existsSync(place)) await symlink(relative(dirname(place), target), place);
}

/**
 * Lets npm download and verify a package that is not for `node_modules`.
 * @param named "@scope/name@1.2.3"
 * @param use moves or reads it; afterwards it is removed
 */
export async function withPackage(
  named: string,
  {
    modules = engineModules(),
    run = runCommand,
    signal,
  }: Omit<Installing, 'report'> & {
    readonly modules?: string;
  },
  use: (folder: string) => Promise<void>,
): Promise<void> {
  const cwd = join(modules, '.cache', 'engine-package');
  const remove = () => rm(cwd, { recursive: true, force: true });
  await remove();
  await mkdir(cwd, { recursive: true });
  try {
    await writeFile(join(cwd, 'package.json'), '{ "private": true }');
    const npm = [...NPM_INSTALL, '--no-save', named];
    await demandSuccess('npm install failed', run('npm', npm, { cwd, signal }));
    await use(join(cwd, 'node_modules', named.slice(0, named.lastIndexOf('@'))));
  } finally {
    await remove();
  }
}

async function asOwner(folder: string, work: () => Promise<void>) {
  try {
    await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = `${folder} cannot be written (${code}): run this as the user who installed the package`;
    throw new CliError(message);
  }
}

function npmFailure(output: string) {
  const away = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|network/.test(output);
  return new CliError(
    `npm install failed: ${lastLines(output)}`,
    away ? EXIT.unreachable : EXIT.failed,
  );
}

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import {
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { installCommand } from '@switchyard/engine-api/install-command.js';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { CliError } from '../../shared/cli-error.js';
import {
  type Installing,
  lastLines,
  parsed,
  PRODUCT_FOLDER,
  runCommand,
  type RunCommand,
  demandSuccess,
} from '../../shared/run-command.js';
import { pipError, PIP_OFFLINE, PIP_UNREACHABLE } from '../hub/package-mirror.js';

/** The oldest Python of workers/python (its pyproject.toml). */
export const PYTHON_MIN = [3, 11] as const;

/** Commands that are tried: the machine's own Python, then newer ones. */
const CANDIDATES = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'];

const PROBE = `
import json, sys
try:
    import venv, ensurepip
    usable = True
except ImportError:
    usable = False
print(json.dumps({"version": list(sys.version_info[:2]), "venv": usable}))
`;

/**
 * @returns a Python command that can make environments. @throws CliError with what the
 *   best one lacks
 */
async function findPython(run: RunCommand, named?: string) {
  const problems: string[] = [];
  for (const command of named === undefined ? CANDIDATES : [named]) {
    const problem = problemOf(command, await run(command, ['-c', PROBE], { limitMs: 30_000 }));
    if (problem === undefined) return command;
    problems.push(problem);
  }
  throw new CliError(problems.find(text => !text.includes('not found')) ?? problems[0]!);
}

function problemOf(
  command: string,
  { code, output }: { code: number; output: string },
): string | undefined {
  const [major, minor] = PYTHON_MIN;
  const install = installCommand(['python3', 'python3-venv']);
  const other = 'or name another Python with --python';
  if (code === 127)
    return `${command} is not found: Python ${major}.${minor} or newer is needed. ${install}, ${other}`;
  const probe = parsed<{
    readonly version: readonly [number, number];
    readonly venv: boolean;
  }>(output);
  if (code !== 0 || !probe)
    return `${command} does not run: ${output.trim().split('\n').at(-1)}. ${install}, ${other}`;
  const [ownMajor, ownMinor] = probe.version;
  const version = `${ownMajor}.${ownMinor}`;
  if (ownMajor < major || (ownMajor === major && ownMinor < minor))
    return `${command} is Python ${version}: ${major}.${minor} or newer is needed. Install one, ${other}`;
  if (probe.venv) return undefined;
  return `${command} (${version}) has no venv or ensurepip: ${installCommand([`python${version}-venv`])}, ${other}`;
}

/** The package of workers/python, which the environment runs from its folder. */
const SOURCES = join(PRODUCT_FOLDER, 'workers', 'python');
const MANIFEST = 'switchyard.json';

const PIP_INSTALL =
  '-m pip install --no-input --progress-bar off --only-binary :all: --require-hashes'.split(' ');

interface Manifest {
  /** Digest of what was installed; another one means that it is out of date. */
  readonly lock: string;
  /** The folder of the worker that it runs: of a clone that may have gone. */
  readonly sources: string;
  readonly cuda: boolean;
  readonly versions: { readonly python: string; readonly ctranslate2: string };
}

interface InstallOptions extends Omit<Installing, 'run'> {
  /** A Python command (default: the first of python3, python3.14, … that fits). */
  readonly python?: string | undefined;
  /** Adds the CUDA libraries that CTranslate2 loads. */
  readonly cuda: boolean;
}

/**
 * Imports the worker from its sources, and makes every later start of this
 * Python find them.
 */
const FINISH = `
import json, platform, sys, sysconfig
from importlib.metadata import version
from pathlib import Path
Path(sysconfig.get_paths()["purelib"], "switchyard.pth").write_text(sys.argv[1] + "\\n")
sys.path.insert(0, sys.argv[1])
import switchyard_worker.ctranslate2.engine
print(json.dumps({"python": platform.python_version(), "ctranslate2": version("ctranslate2")}))
`;

/**
 * The Python environment of the CTranslate2 worker: `engines/ctranslate2` in the data
 * folder, a link to a folder beside it. The link is made last and replaced atomically, so
 * a half-made environment is never behind it.
 */
export class PythonEnvironment {
  readonly folder: string;

  constructor(
    dataDir: string,
    private readonly run: RunCommand = runCommand,
    private readonly sources = SOURCES,
  ) {
    this.folder = resolve(dataDir, 'engines', 'ctranslate2');
  }

  /** Path of the environment's Python, with which commands of workers start. */
  get python(): string {
    return join(this.folder, 'bin', 'python');
  }

  /** A Python with pip: its own, else the best of this machine. */
  async pythonWithPip(): Promise<string> {
    return existsSync(this.python) ? this.python : findPython(this.run);
  }

  /**
   * `outdated`: this release pins other versions. `damaged`: the Python it was made
   * with is gone.
   */
  state(): {
    readonly state: 'absent' | 'ready' | 'outdated' | 'damaged';
    readonly manifest?: Manifest;
  } {
    let manifest: Manifest;
    try {
      manifest = JSON.parse(readFileSync(join(this.folder, MANIFEST), 'utf8')) as Manifest;
    } catch {
      return { state: existsSync(this.folder) ? 'damaged' : 'absent' };
    }
    if (!existsSync(this.python)) return { state: 'damaged', manifest };
    const isCurrent =
      manifest.lock === this.#lock(manifest.cuda) && manifest.sources === this.sources;
    return { state: isCurrent ? 'ready' : 'outdated', manifest };
  }

  /**
   * @throws CliError that says what is missing and how to repair it; what was there
   *   before is left as it is
   */
  async install(options: InstallOptions): Promise<ReturnType<PythonEnvironment['state']>> {
    const before = this.state();
    const { state, manifest } = before;
    if (manifest && state !== 'damaged' && (manifest.cuda || !options.cuda)) {
      if (state === 'ready') return before;
      if (manifest.lock === this.#lock(manifest.cuda)) {
        await this.#finish(this.folder, manifest.cuda, options);
        return this.state();
      }
    }
    const python = await findPython(this.run, options.python);
    await this.#removeLeftovers();
    const made = join(
      dirname(this.folder),
      `.ctranslate2-${process.pid}-${Date.now().toString(36)}`,
    );
    await mkdir(dirname(made), { recursive: true });
    try {
      await this.#make(made, python, options);
      await this.#link(made);
    } catch (error) {
      await rm(made, { recursive: true, force: true });
      throw error;
    }
    return this.state();
  }

  async #make(folder: string, python: string, { cuda, report, signal }: InstallOptions) {
    const options = { onLine: (line: string) => report(line.trim()), signal };
    report(`virtual environment with ${python}`);
    const venv = this.run(python, ['-m', 'venv', folder], options);
    await demandSuccess(`${python} -m venv failed`, venv);
    const own = join(folder, 'bin', 'python');
    const files = this.#requirements(cuda).flatMap(file => ['--requirement', file]);
    const log = join(folder, 'pip.log');
    const env = { PIP_DISABLE_PIP_VERSION_CHECK: '1', PIP_LOG: log };
    const installed = await this.run(own, [...PIP_INSTALL, ...files], {
      ...options,
      env,
    });
    if (installed.code !== 0)
      throw pipFailure(installed.output, await readFile(log, 'utf8').catch(() => ''));
    await rm(log, { force: true });
    await this.#finish(folder, cuda, { report, signal });
  }

  /** Points it to the worker of this clone, and notes what it is. */
  async #finish(folder: string, cuda: boolean, { report, signal }: Omit<Installing, 'run'>) {
    report('importing the worker');
    const own = join(folder, 'bin', 'python');
    const finish = ['-c', FINISH, join(this.sources, 'src')];
    const { code, output } = await this.run(own, finish, { signal });
    const versions = parsed<Manifest['versions']>(output);
    if (code !== 0 || !versions)
      throw new CliError(`the installed packages do not load: ${lastLines(output)}`);
    const { sources } = this;
    const manifest: Manifest = { lock: this.#lock(cuda), sources, cuda, versions };
    await writeFile(join(folder, MANIFEST), JSON.stringify(manifest, null, 2));
  }

  /**
   * A worker that runs keeps the environment it started with: the next installation
   * removes that one.
   */
  async #link(made: string) {
    const link = `${made}.link`;
    await symlink(basename(made), link);
    await rename(link, this.folder);
  }

  /** Environments that are not linked, except one that another process is making. */
  async #removeLeftovers() {
    const names = await readdir(dirname(this.folder)).catch(() => []);
    const current = await readlink(this.folder).catch(() => undefined);
    for (const name of names.filter(each => each.startsWith('.ctranslate2-') && each !== current)) {
      const pid = Number(name.split('-')[1]);
      if (pid === process.pid || !isAlive(pid))
        await rm(join(dirname(this.folder), name), { recursive: true, force: true });
    }
  }

  #requirements(cuda: boolean): readonly string[] {
    const names = ['ctranslate2.txt', ...(cuda ? ['ctranslate2-cuda.txt'] : [])];
    return names.map(name => join(this.sources, 'requirements', name));
  }

  #lock(cuda: boolean) {
    const hash = createHash('sha256');
    for (const file of this.#requirements(cuda)) hash.update(readFileSync(file));
    return hash.digest('hex').slice(0, 16);
  }
}

/**
 * Without a connection pip says in the end that nothing matches. Why is in its log only,
 * unless it tries again.
 */
function pipFailure(output: string, log: string) {
  const missing = /No matching distribution found for (\S+)/;
  return pipError(output + log, [
    [
      /No space left on device/,
      'disk_full',
      'the disk is full: the environment needs 0.5 GB, with --cuda 1.5 GB; it was removed again',
    ],
    [
      PIP_UNREACHABLE,
      'unreachable',
      `the package index cannot be reached: ${lastLines(output, 1)}. ${PIP_OFFLINE}`,
    ],
    [
      missing,
      'not_found',
      `no wheel of ${missing.exec(output)?.[1]} for this Python and machine. Name another Python with --python. ${PIP_OFFLINE}`,
    ],
    [/^/, 'refused', `pip install failed: ${lastLines(output)}`],
  ]);
}

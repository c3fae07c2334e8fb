import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ROOT } from './command.mjs';
import { doing, SetupError } from './report.mjs';

/**
 * A folder of files that are made together and are used while they are replaced. Each
 * file appears whole; those that name others come last, and what is not needed any more
 * goes at the end. A run that is broken off leaves a folder that is not current, and
 * the next one puts it right.
 */
export class BuiltFolder {
  #folder;

  constructor(folder) {
    this.#folder = folder;
  }

  /** Made of sources with this fingerprint, with nothing missing. */
  isCurrent(key) {
    const { key: made, files } = this.#stamp();
    return made === key && files.every(file => existsSync(join(this.#folder, file)));
  }

  /**
   * Replaces what is there, one process at a time.
   * @param files {place, contents}, those that are named by others first
   * @throws SetupError in one line where nothing can be written
   */
  async replace(key, make) {
    try {
      mkdirSync(this.#folder, { recursive: true });
      await this.#lock();
      try {
        if (this.isCurrent(key)) return;
        this.#write(key, await make());
      } finally {
        for (const name of [TEMPORARY, LOCK]) this.#remove(name);
      }
    } catch (error) {
      throw this.#explained(error);
    }
  }

  #write(key, files) {
    const places = files.map(({ place }) => place);
    files.forEach(({ contents }, index) => this.#put(String(index), contents));
    // From here on some are new and some are old.
    this.#remove(STAMP);
    places.forEach((place, index) => {
      mkdirSync(dirname(join(this.#folder, place)), { recursive: true });
      renameSync(join(this.#folder, TEMPORARY, String(index)), join(this.#folder, place));
    });
    this.#removeAllBut(new Set(places));
    this.#put('stamp', JSON.stringify({ key, files: places }));
    renameSync(join(this.#folder, TEMPORARY, 'stamp'), join(this.#folder, STAMP));
  }

  #put(name, contents) {
    mkdirSync(join(this.#folder, TEMPORARY), { recursive: true });
    writeFileSync(join(this.#folder, TEMPORARY, name), contents);
  }

  /** Links are those of engine packages (`engines install`). */
  #removeAllBut(places) {
    for (const entry of readdirSync(this.#folder, { recursive: true, withFileTypes: true })) {
      const place = relative(this.#folder, join(entry.parentPath, entry.name));
      if (entry.isFile() && !place.startsWith(TEMPORARY) && !places.has(place)) this.#remove(place);
    }
  }

  /** Whoever finds the folder locked waits for the other process, unless it is gone. */
  async #lock() {
    const lock = join(this.#folder, LOCK);
    for (let waited = false; ; waited = true) {
      try {
        return symlinkSync(String(process.pid), lock);
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
      }
      const owner = lockOwner(lock);
      if (owner === undefined) {
        this.#remove(LOCK);
        continue;
      }
      if (!waited) doing(`${this.#name} is being built`, `waits for process ${owner}`);
      await pause(200);
    }
  }

  #stamp() {
    try {
      return JSON.parse(readFileSync(join(this.#folder, STAMP), 'utf8'));
    } catch {
      return { files: [] };
    }
  }

  #remove(place) {
    rmSync(join(this.#folder, place), { recursive: true, force: true });
  }

  get #name() {
    return relative(ROOT, this.#folder);
  }

  #explained(error) {
    const why = REASONS[error.code];
    if (error instanceof SetupError || why === undefined) return error;
    return new SetupError(`${this.#name} cannot be written: ${why} (${error.code}).`);
  }
}

const STAMP = '.sources';
const LOCK = '.building';
const TEMPORARY = '.new';

const REASONS = {
  ENOSPC: 'no space is left; free some and run it again',
  EDQUOT: 'your quota is used up; free some space and run it again',
  EROFS: 'the file system is read-only',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
};

/** A build takes seconds: one that has lasted minutes is another process with its number. */
const LOCK_LIMIT_MS = 300_000;

/** @returns the process that builds; undefined if there is none any more */
function lockOwner(lock) {
  try {
    const pid = Number(readlinkSync(lock));
    if (Date.now() - lstatSync(lock).mtimeMs > LOCK_LIMIT_MS) return undefined;
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return error.code === 'EPERM' ? 'of another user' : undefined;
  }
}

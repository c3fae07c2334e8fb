import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  ftruncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const run = (command: string, ...args: readonly string[]) =>
  execFileSync(command, args, { stdio: 'pipe' });

/** A disk of its own that can be frozen: writes to it wait until it is thawed. */
export class FreezableDisk implements Disposable {
  private constructor(
    private readonly folder: string,
    readonly path: string,
  ) {}

  /** @throws Error where this user may not mount. */
  static mount(): FreezableDisk {
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-freezable-'));
    const image = join(folder, 'image');
    const path = join(folder, 'disk');
    try {
      const file = openSync(image, 'w');
      ftruncateSync(file, 64 * 1_048_576);
      closeSync(file);
      run('mkfs.ext4', '-q', image);
      run('mkdir', path);
      run('mount', '-o', 'loop', image, path);
    } catch (error) {
      rmSync(folder, { recursive: true });
      throw error;
    }
    return new FreezableDisk(folder, path);
  }

  static canMount(): boolean {
    try {
      FreezableDisk.mount()[Symbol.dispose]();
      return true;
    } catch {
      return false;
    }
  }

  /**
   * Thaws by itself after `mostMs`: whoever blocks this process on the disk would never
   * come to it.
   */
  async freeze(mostMs: number): Promise<void> {
    const [mark, end] = [join(this.folder, 'frozen'), join(this.folder, 'thaw')];
    const script =
      'fsfreeze -f "$1" && touch "$2" && echo frozen; n=0; ' +
      'while [ $n -lt "$4" ] && [ ! -e "$3" ]; do sleep 0.1; n=$((n+1)); done; ' +
      'rm -f "$2" "$3"; fsfreeze -u "$1"';
    const args = ['-c', script, 'freeze', this.path, mark, end, String(mostMs / 100)];
    const shell = spawn('sh', args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    await once(shell.stdout, 'data');
  }

  get isFrozen(): boolean {
    return existsSync(join(this.folder, 'frozen'));
  }

  /** Resolves when it takes writes again. */
  async thaw(): Promise<void> {
    // Not by a program: one that is started may wait for files of this process.
    writeFileSync(join(this.folder, 'thaw'), '');
    while (this.isFrozen) await new Promise(resolve => setTimeout(resolve, 20));
  }

  [Symbol.dispose](): void {
    run('umount', '-l', this.path);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

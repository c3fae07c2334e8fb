import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A small disk, in memory, that can be filled to the last byte: real ENOSPC. */
export class SmallDisk implements Disposable {
  private constructor(readonly path: string) {}

  /** @throws Error where this user may not mount. */
  static mount(mebibytes = 8): SmallDisk {
    const path = mkdtempSync(join(tmpdir(), 'switchyard-disk-'));
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'none', path], {
        stdio: 'pipe',
      });
    } catch (error) {
      rmSync(path, { recursive: true });
      throw error;
    }
    return new SmallDisk(path);
  }

  /** Not every user may, and not in every container. */
  static canMount(): boolean {
    try {
      SmallDisk.mount()[Symbol.dispose]();
      return true;
    } catch {
      return false;
    }
  }

  async fill(): Promise<void> {
    const { bavail, bsize } = statfsSync(this.path);
    await writeFile(this.#ballast, Buffer.alloc(bavail * bsize)).catch(() => undefined);
  }

  /** Idempotent. */
  async makeRoom(): Promise<void> {
    await rm(this.#ballast, { force: true });
  }

  [Symbol.dispose](): void {
    execFileSync('umount', ['-l', this.path]);
    rmSync(this.path, { recursive: true });
  }

  get #ballast(): string {
    return join(this.path, 'ballast');
  }
}

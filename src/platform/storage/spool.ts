import { randomUUID } from 'node:crypto';
import { mkdir, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { SETTINGS, type Settings } from '../config/settings.js';
import { SpoolWriter } from './spool-writer.js';
import { type SpooledUpload } from './spooled-upload.js';

/** Holds uploads between the socket and the worker: small ones in memory, larger ones in `data.dir/spool`. */
@Injectable()
export class Spool implements OnModuleInit {
  private readonly logger = new Logger(Spool.name);
  private readonly folder: string;

  constructor(@Inject(SETTINGS) private readonly settings: Settings) {
    this.folder = join(settings.data.dir, 'spool');
  }

  /** Makes the folder and removes what processes that are gone left in it. */
  async onModuleInit(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const leftovers = (await readdir(this.folder)).filter(isLeftover);
    await Promise.all(leftovers.map(name => unlink(join(this.folder, name)).catch(() => undefined)));
    if (leftovers.length > 0) this.logger.log(`removed ${leftovers.length} leftover upload(s) from ${this.folder}`);
  }

  /**
   * Reads `source` to its end. On any failure, also of the source itself, nothing is left behind.
   * @throws DomainError `file_too_large` as soon as the limit is passed, `storage_full` when the disk is.
   */
  async store(source: AsyncIterable<Buffer>): Promise<SpooledUpload> {
    const { server, spool } = this.settings;
    const writer = new SpoolWriter(join(this.folder, `${process.pid}-${randomUUID()}.upload`), {
      maxBytes: server.uploadLimitBytes,
      memoryBytes: spool.memoryBytes,
    });
    try {
      for await (const chunk of source) await writer.write(chunk);
      return await writer.finish();
    } catch (error) {
      await writer.abort();
      throw error;
    }
  }
}

/** Files carry the id of the process that made them, so that two gateways can share a data folder. */
function isLeftover(name: string): boolean {
  const pid = Number(/^(\d+)-[0-9a-f-]+\.upload$/.exec(name)?.[1]);
  return Number.isInteger(pid) && (pid === process.pid || !isAlive(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

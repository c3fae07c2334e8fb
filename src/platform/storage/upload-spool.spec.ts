import { type FileHandle, mkdir, open, readdir, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it, beforeAll } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { settingsFrom } from '../config/settings.js';
import { Spool, spooled, SpooledUpload } from './upload-spool.js';

const MEMORY = 100;

let dir: string;
let spool: Spool;
beforeEach(async () => {
  Logger.overrideLogger(false);
  dir = temporaryFolder();
  const settings = { 'data.dir': dir, 'spool.memory_bytes': MEMORY };
  spool = new Spool(settingsFrom(settings));
  await spool.onModuleInit();
});

const files = () => readdir(join(dir, 'spool'));
const pieces = (...sizes: readonly number[]) =>
  Readable.from(sizes.map((size, index) => Buffer.alloc(size, index + 1)));

describe('an upload', () => {
  it('of up to memoryBytes stays in memory', async () => {
    const upload = await spool.store(pieces(60, 40));
    expect([upload.size, upload.path, await files()]).toEqual([100, undefined, []]);
    expect(await upload.bytes()).toEqual(Buffer.concat([Buffer.alloc(60, 1), Buffer.alloc(40, 2)]));
  });

  it('that is larger lies in one file that only its user can read', async () => {
    const upload = await spool.store(pieces(60, 41, 500));
    expect(await files()).toHaveLength(1);
    expect((await stat(upload.path ?? '')).mode & 0o777).toBe(0o600);
    expect(await upload.bytes()).toEqual(
      Buffer.concat([Buffer.alloc(60, 1), Buffer.alloc(41, 2), Buffer.alloc(500, 3)]),
    );
    expect(upload.head.length).toBeGreaterThan(0);
  });

  it('whose source breaks leaves nothing behind, and reports the error of the source', async () => {
    const broken = (async function* () {
      yield await Promise.resolve(Buffer.alloc(500));
      throw new Error('the client left');
    })();
    await expect(spool.store(broken)).rejects.toThrow('the client left');
    expect(await files()).toEqual([]);
  });
});

describe('the file of an upload', () => {
  const handles: FileHandle[] = [];
  const create = async () => {
    handles.push(await open(join(dir, 'upload'), 'wx', 0o600));
    return handles.at(-1)!;
  };

  it('is closed, and the first 64 KiB are at hand', async () => {
    const upload = await spooled(pieces(40_000, 40_000), join(dir, 'upload'), 0, create);
    expect([upload.size, upload.head.length, handles.at(-1)!.fd]).toEqual([80_000, 40_000, -1]);
    await upload.dispose();
    const whole = await spooled(pieces(80_000), join(dir, 'upload'), 79_999, create);
    expect(whole.head).toEqual(Buffer.alloc(65_536, 1));
  });

  it('is closed and gone when it cannot be finished', async () => {
    const broken = (async function* () {
      yield await Promise.resolve(Buffer.alloc(500));
      throw new Error('the client left');
    })();
    const stored = spooled(broken, join(dir, 'upload'), 0, create);
    await expect(stored).rejects.toThrow('the client left');
    expect([handles.at(-1)!.fd, await readdir(dir)]).toEqual([-1, ['spool']]);
  });

  it('lies in a folder of its user, and is gone without complaint when somebody removed it', async () => {
    expect((await stat(join(dir, 'spool'))).mode & 0o777).toBe(0o700);
    const upload = await spool.store(pieces(500));
    await unlink(upload.path!);
    await upload.dispose();
    expect(upload.path).toBeUndefined();
  });
});

describe('dispose', () => {
  it('removes the file, twice without harm, and gives the same promise', async () => {
    const upload = await spool.store(pieces(500));
    const first = upload.dispose();
    expect(upload.dispose()).toBe(first);
    await first;
    expect(await files()).toEqual([]);
  });

  it('lets a read that runs end with all its bytes', async () => {
    const upload = await spool.store(pieces(500));
    const read = upload.bytes();
    await upload.dispose();
    expect((await read).length).toBe(500);
  });

  it('makes later reads fail', async () => {
    for (const size of [50, 500]) {
      const upload = await spool.store(pieces(size));
      await upload.dispose();
      await expect(upload.bytes()).rejects.toThrow('disposed');
    }
  });
});

describe('at boot', () => {
  it('what dead processes left is removed; what living ones hold, and foreign files, stay', async () => {
    const folder = join(dir, 'spool');
    const dead = '999999999-0b0e7a52-7f2c-4b58-9a55-0d7a3c7f0000.upload';
    const living = '1-0b0e7a52-7f2c-4b58-9a55-0d7a3c7f0000.upload';
    const own = `${process.pid}-0b0e7a52-7f2c-4b58-9a55-0d7a3c7f0000.upload`;
    await mkdir(folder, { recursive: true });
    for (const name of [dead, living, own, 'notes.txt']) await writeFile(join(folder, name), 'x');
    await spool.onModuleInit();
    expect((await files()).sort()).toEqual([living, 'notes.txt']);
  });
});

/** Linux's own full disk: every write to it is ENOSPC. */
const FULL = '/dev/full';

const tenBytes = () => Readable.from([Buffer.alloc(10)]);

describe('a full disk', () => {
  it('is storage_full, with the cause kept', async () => {
    const stored = spooled(tenBytes(), 'unused', 0, () => open(FULL, 'w'));
    await expect(stored).rejects.toMatchObject({ code: 'storage_full', cause: { code: 'ENOSPC' } });
  });

  it('differs from a folder that may not be written to', async () => {
    const stored = spooled(tenBytes(), '/proc/no-such-folder/file', 0);
    await expect(stored).rejects.toMatchObject({
      code: 'storage_unavailable',
      cause: { code: 'ENOENT' },
    });
  });
});

const BYTES = Buffer.alloc(150_000, 'abc');

describe('SpooledUpload.chunks', () => {
  let folder: string;
  beforeAll(() => {
    folder = temporaryFolder();
  });

  async function upload(kind: 'memory' | 'file'): Promise<SpooledUpload> {
    const path = join(folder, kind);
    await writeFile(path, BYTES);
    const content = kind === 'memory' ? BYTES : path;
    return new SpooledUpload(BYTES.length, BYTES.subarray(0, 10), content);
  }

  it.each(['memory', 'file'] as const)(
    'of %s are the upload, at most 64 KiB each, as often as asked for',
    async kind => {
      const spooled = await upload(kind);
      for (let time = 0; time < 2; time += 1) {
        const pieces: Buffer[] = [];
        for await (const piece of spooled.chunks()) pieces.push(Buffer.from(piece));
        expect(Buffer.concat(pieces).equals(BYTES)).toBe(true);
        expect(Math.max(...pieces.map(({ length }) => length))).toBe(65_536);
      }
    },
  );

  it('are read to the end when the upload is disposed of in the middle, and not begun after that', async () => {
    const spooled = await upload('file');
    const pieces = spooled.chunks();
    let size = (await pieces.next()).value!.length;
    await spooled.dispose();
    for await (const piece of pieces) size += piece.length;
    expect(size).toBe(BYTES.length);
    await expect(spooled.chunks().next()).rejects.toThrow('disposed');
  });
});

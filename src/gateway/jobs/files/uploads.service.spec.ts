import { createHash } from 'node:crypto';
import multipart from '@fastify/multipart';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { type BlobStore, type Upload, type UploadPart } from '../../../core/jobs/job.ports.js';
import { settingsFrom } from '../../../platform/config/settings.js';
import { type FileStore, type UploadStore } from '../../../platform/database/file-store.js';
import { storageUnavailable } from '../../../platform/http/passing-errors.js';
import { MULTIPART_OPTIONS } from '../../http/multipart-form.js';
import { type FileWriter } from './file-writer.js';
import { UploadsService } from './uploads.service.js';

const NOW_MS = 1_000_000;
const HOUR_MS = 3_600_000;
const MD5 = createHash('md5').update('onetwo').digest('hex');

describe('an upload in parts', () => {
  let blobs: Map<string, string>;
  let log: string[];
  let upload: Upload | undefined;
  let parts: UploadPart[];
  let nowMs: number;
  let isEnded: boolean;
  let isFresh: boolean;
  let created: Upload[];
  let service: UploadsService;

  beforeEach(() => {
    [log, created, nowMs, isEnded, isFresh] = [[], [], NOW_MS, false, true];
    blobs = new Map([
      ['k1', 'one'],
      ['k2', 'two'],
      ['k3', 'left out'],
    ]);
    const part = (id: string, blobKey: string) =>
      ({ id, blobKey, bytes: blobs.get(blobKey)!.length }) as UploadPart;
    parts = [part('p1', 'k1'), part('p2', 'k2'), part('p3', 'k3')];
    upload = {
      id: 'u',
      tenant: 't',
      purpose: 'user_data',
      filename: 'f',
      mimeType: 'a/b',
      bytes: 6,
      status: 'pending',
      createdAtMs: NOW_MS,
      expiresAtMs: NOW_MS + HOUR_MS,
      fileExpiresAfterS: 9,
    };
    const uploads = {
      clockMs: () => Promise.resolve(nowMs),
      create: (given: Upload) => Promise.resolve(created.push(given)),
      find: () => Promise.resolve(upload),
      parts: () => Promise.resolve(parts),
      end: (_: string, status: string, file?: string) => {
        log.push(['end', status, file].filter(Boolean).join(' '));
        return Promise.resolve(!isEnded);
      },
      addPart: () => Promise.resolve(!isEnded),
    };
    const writer = {
      write: async (_: string, bytes: AsyncIterable<Uint8Array>, limits: object) => {
        const text = Buffer.concat(await Array.fromAsync(bytes)).toString();
        log.push(`write ${text} ${JSON.stringify(limits)}`);
        return { id: 'file', blobKey: 'whole', measured: { size: text.length } };
      },
      publish: (_: string, { id }: { id: string }, fields: object) => {
        log.push(`publish ${JSON.stringify(fields)}`);
        return Promise.resolve({ id, blobKey: 'whole' });
      },
      forget: ({ blobKey }: { blobKey: string }) => Promise.resolve(log.push(`forget ${blobKey}`)),
      assertFresh: () => {
        if (!isFresh) throw storageUnavailable('It took too long.');
      },
    };
    service = new UploadsService(
      uploads as unknown as UploadStore,
      { remove: () => Promise.resolve(log.push('remove')) } as unknown as FileStore,
      {
        readAll: async function* (keys: readonly string[]) {
          for (const key of keys) yield await Promise.resolve(Buffer.from(blobs.get(key)!));
        },
      } as unknown as BlobStore,
      settingsFrom({ 'files.max_upload_bytes': 100, 'batch.max_file_bytes': 50 }),
      writer as unknown as FileWriter,
    );
  });

  const asked = (fields: object) =>
    ({ purpose: 'user_data', filename: 'f', mime_type: 'a/b', bytes: 100, ...fields }) as never;
  const complete = (part_ids: string[], md5?: string) =>
    service.complete('t', 'u', { part_ids, md5 });

  it('takes parts while it is pending', async () => {
    const server = fastify();
    await server.register(multipart, MULTIPART_OPTIONS);
    server.post('/', request => service.addPart('t', 'u', request));
    server.setErrorHandler((error: { code: string }, _, reply) => reply.code(400).send(error.code));
    const head = '--b\r\ncontent-disposition: form-data; name="data"; filename="f"\r\n\r\n';
    const send = () =>
      server.inject({
        method: 'POST',
        url: '/',
        payload: `${head}four\r\n--b--\r\n`,
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      });
    expect((await send()).json()).toMatchObject({ uploadId: 'u', blobKey: 'whole', bytes: 4 });
    isEnded = true;
    expect((await send()).body).toBe('upload_not_pending');
    [isEnded, isFresh] = [false, false];
    expect((await send()).body).toBe('storage_unavailable');
    await server.close();
  });

  it('is pending for an hour', async () => {
    const made = await service.create('t', asked({ expires_after: { seconds: 9 } }));
    expect(created).toEqual([made]);
    expect(made).toMatchObject({
      tenant: 't',
      status: 'pending',
      bytes: 100,
      createdAtMs: NOW_MS,
      expiresAtMs: NOW_MS + HOUR_MS,
      fileExpiresAfterS: 9,
    });
    for (const over of [{ bytes: 101 }, { purpose: 'batch', bytes: 51 }])
      await expect(service.create('t', asked(over))).rejects.toMatchObject({
        code: 'file_too_large',
      });
    expect(created).toHaveLength(1);
  });

  it.each([undefined, MD5, MD5.toUpperCase()])(
    'becomes one file of the parts that are named, with the md5 %p',
    async md5 => {
      const { upload: done, file } = await complete(['p1', 'p2'], md5);
      expect([done.status, done.fileId, file.id]).toEqual(['completed', 'file', 'file']);
      expect(log).toEqual([
        'write onetwo {"maxBytes":100,"maxLines":null}',
        'publish {"purpose":"user_data","filename":"f","expiresAfterS":9}',
        'end completed file',
        'forget k1',
        'forget k2',
        'forget k3',
      ]);
    },
  );

  it.each<[string, string[], string | undefined, RegExp, string[]]>([
    ['a part is named twice', ['p1', 'p1'], undefined, /`p1` is no part/, []],
    ['a part is unknown', ['p1', 'p9'], undefined, /`p9` is no part/, []],
    ['bytes are missing', ['p1'], undefined, /3 bytes, and 6 were announced/, []],
    ['the md5 is another', ['p2', 'p1'], MD5, /md5 of the bytes/, ['forget whole']],
  ])('stays pending when %s', async (_, ids, md5, message, after) => {
    const done = complete(ids, md5);
    await expect(done).rejects.toMatchObject({ code: 'upload_incomplete' });
    await expect(done).rejects.toThrow(message);
    expect(log.slice(-1 * (after.length || 9))).toEqual(after);
  });

  it('makes no second file when another request completed it meanwhile', async () => {
    isEnded = true;
    await expect(complete(['p1', 'p2'])).rejects.toMatchObject({ code: 'upload_not_pending' });
    expect(log.slice(-2)).toEqual(['remove', 'forget whole']);
  });

  it('is cancelled with its parts, once', async () => {
    expect((await service.cancel('t', 'u')).status).toBe('cancelled');
    expect(log).toEqual(['end cancelled', 'forget k1', 'forget k2', 'forget k3']);
    isEnded = true;
    await expect(service.cancel('t', 'u')).rejects.toMatchObject({ code: 'upload_not_pending' });
    expect(log.slice(4)).toEqual(['end cancelled']);
  });

  it.each<[string, () => unknown, string]>([
    ['there is none', () => (upload = undefined), 'upload_not_found'],
    ['it has ended', () => (upload = { ...upload!, status: 'completed' }), 'upload_not_pending'],
    ['its hour is over', () => (nowMs += HOUR_MS), 'upload_not_pending'],
  ])('takes nothing when %s', async (_, act, code) => {
    act();
    await expect(service.cancel('t', 'u')).rejects.toMatchObject({ code });
    expect(log).toEqual([]);
  });

  it('takes all until the last millisecond of its hour', async () => {
    nowMs += HOUR_MS - 1;
    expect((await service.cancel('t', 'u')).status).toBe('cancelled');
  });
});

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fastify, type FastifyInstance } from 'fastify';
import { type DomainError } from '../../../core/errors/domain-error.js';
import { type BlobStore, type StoredFile } from '../../../core/jobs/job.ports.js';
import { settingsFrom } from '../../../platform/config/settings.js';
import { type FileStore } from '../../../platform/database/file-store.js';
import { type JobStore } from '../../../platform/database/job-store.js';
import { BlobMissing } from '../../../platform/storage/storage-problems.js';
import { type FileWriter } from './file-writer.js';
import { byteRange, containsTag, FilesService } from './files.service.js';

describe('byteRange over 100 bytes', () => {
  it.each([
    ['bytes=0-0', { from: 0, to: 0 }],
    ['bytes=90-200', { from: 90, to: 99 }],
    ['bytes=99-', { from: 99, to: 99 }],
    ['bytes=-1', { from: 99, to: 99 }],
    ['bytes=-1000', { from: 0, to: 99 }],
    ['Bytes= 1-2 ', { from: 1, to: 2 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=100-200', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=2-1', undefined],
    ['bytes=-', undefined],
    ['bytes=0-1,3-4', undefined],
    ['bytes=0x1-2', undefined],
    ['items=0-1', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s is %j', (header, range) => {
    expect(byteRange(header, 100)).toEqual(range);
  });

  it('no range of an empty file can be satisfied', () => {
    expect([byteRange('bytes=0-', 0), byteRange('bytes=-5', 0)]).toEqual([
      'unsatisfiable',
      'unsatisfiable',
    ]);
  });
});

describe('containsTag', () => {
  it.each([
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['*', true],
    ['"b"', false],
    ['a', false],
    [undefined, false],
  ])('%s names "a": %s', (header, named) => {
    expect(containsTag(header, '"a"')).toBe(named);
  });
});

const NOW_MS = 1_000_000;
const TEXT = '0123456789';

describe('a file', () => {
  let file: StoredFile | undefined;
  let log: string[];
  let users: string[];
  let problem: Error | undefined;
  let files: FilesService;
  let server: FastifyInstance;

  beforeEach(() => {
    [log, users, problem] = [[], [], undefined];
    file = { id: 'f', blobKey: 'k', bytes: 10, sha256: 'abc', filename: 'ä b\uD800' } as StoredFile;
    const store = {
      find: () => Promise.resolve(file),
      clockMs: () => Promise.resolve(NOW_MS),
      remove: () => Promise.resolve(log.push('remove')),
    };
    const blobs: Partial<BlobStore> = {
      read: async function* (_: string, { from, to } = { from: 0, to: 9 }) {
        if (problem) throw problem;
        try {
          for (const byte of TEXT.slice(from, to + 1))
            yield await Promise.resolve(Buffer.from(byte));
        } finally {
          log.push('closed');
        }
      } as BlobStore['read'],
    };
    files = new FilesService(
      store as unknown as FileStore,
      { usersOf: () => Promise.resolve(users) } as unknown as JobStore,
      blobs as BlobStore,
      settingsFrom({}),
      { forget: () => Promise.resolve(log.push('forget')) } as unknown as FileWriter,
    );
    server = fastify();
    server.route({
      method: ['GET', 'HEAD'],
      url: '/',
      exposeHeadRoute: false,
      handler: async (_, reply) => {
        await files.sendContent('t', 'f', reply);
        return reply;
      },
    });
    server.setErrorHandler((error: DomainError, _, reply) => reply.code(400).send(error.code));
  });
  afterEach(() => server.close());

  const get = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
    server.inject({ method, url: '/', headers });

  it('is sent whole, under its name', async () => {
    const { statusCode, body, headers } = await get();
    expect([statusCode, body]).toEqual([200, TEXT]);
    expect(headers).toMatchObject({
      etag: '"abc"',
      'accept-ranges': 'bytes',
      'content-length': '10',
      'content-disposition': "attachment; filename*=UTF-8''%C3%A4%20b%EF%BF%BD",
    });
    expect([headers['content-range'], log]).toEqual([undefined, ['closed']]);
  });

  it.each<[object, number, string, string | undefined, string | undefined]>([
    [{ range: 'bytes=2-4' }, 206, '234', 'bytes 2-4/10', '3'],
    [{ range: 'bytes=2-4', 'if-range': '"abc"' }, 206, '234', 'bytes 2-4/10', '3'],
    [{ range: 'bytes=2-4', 'if-range': '"old"' }, 200, TEXT, undefined, '10'],
    [{ range: 'bytes=10-' }, 400, 'range_not_satisfiable', 'bytes */10', '21'],
    [{ 'if-none-match': '"abc"' }, 304, '', undefined, undefined],
  ])('is sent for %j with %p: %s', async (sent, status, text, range, length) => {
    const { statusCode, body, headers } = await get(sent as Record<string, string>);
    expect([statusCode, body]).toEqual([status, text]);
    expect([headers['content-range'], headers['content-length']]).toEqual([range, length]);
  });

  it('has a head without a body', async () => {
    const { body, headers } = await get({}, 'HEAD');
    expect([body, headers['content-length'], log]).toEqual(['', '10', []]);
  });

  it.each<[string, () => unknown]>([
    ['has no bytes any more', () => (problem = new BlobMissing('k'))],
    ['is unknown', () => (file = undefined)],
    ['has expired', () => (file = { ...file!, expiresAtMs: NOW_MS })],
  ])('is not found when it %s', async (_, act) => {
    act();
    expect((await get()).body).toBe('file_not_found');
  });

  it('is found until the last millisecond, and fails with what the store throws', async () => {
    file = { ...file!, expiresAtMs: NOW_MS + 1 };
    expect((await get()).statusCode).toBe(200);
    problem = new Error('broken');
    expect((await get()).statusCode).toBe(400);
  });

  it('is removed with its bytes, unless a batch uses it', async () => {
    for (users of [['b1'], ['b1', 'b2']])
      await expect(files.remove('t', 'f')).rejects.toThrow(`is used by ${users.join(', ')};`);
    expect(log).toEqual([]);
    users = [];
    await files.remove('t', 'f');
    expect(log).toEqual(['remove', 'forget']);
  });
});

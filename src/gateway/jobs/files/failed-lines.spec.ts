import { beforeEach, describe, expect, it } from '@jest/globals';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type BatchJob } from '../../../core/jobs/batch-job.js';
import { type BlobStore } from '../../../core/jobs/job.ports.js';
import { type FileStore } from '../../../platform/database/file-store.js';
import { fileOfFailedLines } from './failed-lines.js';
import { type FileWriter } from './file-writer.js';

const line = (id: unknown, more = '') => `{"custom_id":${JSON.stringify(id)}${more}}\n`;

describe('the failed lines of a batch', () => {
  let blobs: Record<string, string>;
  let written: string;
  let problem: Error | undefined;

  beforeEach(() => {
    problem = undefined;
    blobs = {
      input: `${line('a', ',"n":12345678901234567890')}${line('b')}no json\n${line(7)}${line('c').trim()}`,
      errors: `${line('a')}${line('c')}${line(7)}`,
    };
  });

  const retried = (fields: object = {}) => {
    const files = {
      find: (_: string, id: string) => Promise.resolve(id in blobs ? { blobKey: id } : undefined),
    };
    const store: Partial<BlobStore> = {
      read: async function* (key: string) {
        yield await Promise.resolve(Buffer.from(blobs[key]!));
      } as BlobStore['read'],
    };
    const writer = {
      write: async (_: string, bytes: AsyncIterable<Uint8Array>) => {
        written = Buffer.concat(await Array.fromAsync(bytes)).toString();
        if (problem) throw problem;
        return {};
      },
      publish: (tenant: string, _: object, file: object) => Promise.resolve({ tenant, ...file }),
    };
    const job = { id: 'b1', tenant: 't', inputFileId: 'input', errorFileId: 'errors', ...fields };
    return fileOfFailedLines(
      job as BatchJob,
      files as unknown as FileStore,
      store as BlobStore,
      writer as unknown as FileWriter,
    );
  };

  it('become a file of their own, byte for byte', async () => {
    const file = { tenant: 't', purpose: 'batch', filename: 'retry-of-b1.jsonl' };
    expect(await retried()).toEqual(file);
    expect(written).toBe(`${line('a', ',"n":12345678901234567890')}${line('c')}`);
  });

  it.each<[string, object, () => unknown]>([
    ['no line failed', { errorFileId: undefined }, () => undefined],
    ['no failed line has an id', {}, () => (blobs.errors = 'no json\n')],
    [
      'none of them is in its input',
      {},
      () => (problem = new DomainError('empty_file', 'The file has 0 bytes.')),
    ],
  ])('are none when %s', async (_, fields, act) => {
    act();
    await expect(retried(fields)).rejects.toMatchObject({ code: 'nothing_to_retry', param: 'id' });
  });

  it.each(['input', 'errors'])('need its file `%s`', async file => {
    delete blobs[file];
    const gone = retried();
    await expect(gone).rejects.toMatchObject({ code: 'file_not_found' });
    await expect(gone).rejects.toThrow(`The file \`${file}\` of b1 no longer exists.`);
  });

  it.each([new DomainError('storage_full', 'Full.'), new Error('a bug')])(
    'fail with what the store throws: %s',
    async error => {
      problem = error;
      await expect(retried()).rejects.toBe(error);
    },
  );
});

import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { chatLine } from '../../../test/support/batch-harness.js';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type FileStore } from '../../platform/database/file-store.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import { JobFolder } from '../job/job-folder.js';
import { type JobTraces } from '../observe/job-traces.js';
import { type JobMetrics } from '../observe/job.metrics.js';
import { IngestService, modelMapOf } from './ingest.service.js';

describe('ingestion', () => {
  it('keeps the bytes of the input, an error line for each invalid one, and a place for each of both', async () => {
    const lines = ['a', 'b', 'c'].map(id => chatLine(id, 'm'));
    const text = [lines[0], '{"custom_id":"bad"}', lines[1], lines[2]].join('\n');
    // In pieces that end within lines.
    const pieces = text.match(/[^]{1,50}/g)!.map(piece => Buffer.from(piece));
    const built: number[] = [];
    const service = new IngestService(
      settingsFrom({ 'batch.validation': 'lenient' }),
      { find: () => Promise.resolve({ blobKey: 'key' }) } as unknown as FileStore,
      { read: () => Readable.from(pieces) } as unknown as BlobStore,
      {
        stored: () => undefined,
        planBuilt: (_: number, seconds: number) => void built.push(seconds),
      } as unknown as JobMetrics,
      { step: (_: string, __: string, work: () => unknown) => work() } as unknown as JobTraces,
    );
    const folder = new JobFolder(temporaryFolder(), 'batch_1');
    const job = {
      ...{ id: 'batch_1', tenant: 't', inputFileId: 'file_1', metadata: {} },
      endpoint: '/v1/chat/completions',
    };
    const lease = { job, assertHeld: () => undefined };
    const work = { lease, folder, writer: 'w' } as unknown as ClaimedJob;

    const prepared = await service.prepare(work);
    expect(prepared).toMatchObject({ plan: { total: 4, firstRejected: 3 } });
    expect(await readFile(folder.input, 'utf8')).toBe(text);
    const rejected = (await readFile(folder.rejected, 'utf8')).trim().split('\n');
    expect(rejected.map(line => (JSON.parse(line) as { custom_id: string }).custom_id)).toEqual([
      'bad',
    ]);
    expect(built[0]).toBeLessThan(performance.now() / 1000);
    // What is ingested is not read again.
    expect(await service.prepare(work)).toEqual(prepared);
    expect(built).toHaveLength(1);
  });
});

describe('model_map.json', () => {
  it('names plan files after models, safely and without two alike', () => {
    const models = [
      'org/model-A:1',
      'org_model-A_1',
      'ORG/MODEL-a:1',
      '../../etc',
      '.hidden',
      'ü'.repeat(300),
    ];
    expect(Object.values(modelMapOf(models, 6, 0).model_to_safe)).toEqual([
      'org_model-A_1',
      'org_model-A_1_2',
      'ORG_MODEL-a_1_3',
      '_._.._etc',
      '_hidden',
      '_'.repeat(100),
    ]);
  });

  it('leads both ways and lists the lines', () => {
    expect(modelMapOf(['a/b', 'c'], 7, 2)).toEqual({
      model_to_safe: { 'a/b': 'a_b', c: 'c' },
      safe_to_model: { a_b: 'a/b', c: 'c' },
      line_count: 7,
      rejected_count: 2,
      models: ['a/b', 'c'],
    });
  });
});

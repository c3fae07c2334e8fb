import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { chatLine } from '../../../test/support/batch-harness.js';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type FileStore } from '../../platform/database/file-store.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { type ClaimedJob } from '../job/claimed-job.js';
import { JobFolder } from '../job/job-folder.js';
import { type JobTraces } from '../observe/job-traces.js';
import { type JobMetrics } from '../observe/job.metrics.js';
import { IngestService, modelMapOf } from './ingest.service.js';

const NAMES = {
  id: 'batch_1',
  tenant: 't',
  inputFileId: 'file_1',
  endpoint: '/v1/chat/completions',
};

interface Given {
  readonly pieces?: Iterable<Buffer>;
  readonly settings?: Parameters<typeof settingsFrom>[0];
  readonly metadata?: Record<string, string>;
  /** What its blob is read with; default: `pieces`. */
  readonly read?: () => AsyncIterable<Buffer>;
  readonly isKnown?: boolean;
  readonly isLost?: boolean;
}

/** Ingests one file, and says what was counted. */
async function ingest(given: Given) {
  const { pieces = [], isKnown = true } = given;
  const counts: string[] = [];
  const built: [lines: number, seconds: number][] = [];
  const service = new IngestService(
    settingsFrom(given.settings ?? {}),
    {
      find: () => Promise.resolve(isKnown ? { blobKey: 'key' } : undefined),
    } as unknown as FileStore,
    { read: given.read ?? (() => Readable.from(pieces)) } as unknown as BlobStore,
    {
      stored: (what: string, how: string) => counts.push(`${what} ${how}`),
      planBuilt: (lines: number, seconds: number) => void built.push([lines, seconds]),
    } as unknown as JobMetrics,
    { step: (_: string, __: string, work: () => unknown) => work() } as unknown as JobTraces,
  );
  const folder = new JobFolder(temporaryFolder(), 'batch_1');
  const lease = {
    job: { ...NAMES, metadata: given.metadata ?? {} },
    assertHeld: () => {
      if (given.isLost) throw new Error('lease lost');
    },
  };
  const work = { lease, folder, writer: 'w' } as unknown as ClaimedJob;
  const prepare = () => service.prepare(work);
  const prepared = await prepare().catch((error: unknown) => error as Error);
  const problems =
    prepared instanceof Error ? prepared : 'problems' in prepared && prepared.problems;
  const codes = Array.isArray(problems) ? problems.map(({ code }) => code as string) : problems;
  return { folder, prepare, prepared, codes, counts, built };
}

Logger.overrideLogger(false);

describe('ingestion', () => {
  it('keeps the bytes of the input, an error line for each invalid one, and a place for each of both', async () => {
    const lines = ['a', 'b', 'c'].map(id => chatLine(id, 'm'));
    const text = [lines[0], '{"custom_id":"bad"}', lines[1], lines[2]].join('\n');
    // In pieces that end within lines.
    const pieces = text.match(/[^]{1,50}/g)!.map(piece => Buffer.from(piece));
    const settings = { 'batch.validation': 'lenient' } as const;
    const { folder, prepared, built, counts, prepare } = await ingest({ pieces, settings });
    expect(prepared).toMatchObject({ plan: { total: 4, firstRejected: 3 } });
    expect(await readFile(folder.input, 'utf8')).toBe(text);
    expect(JSON.parse(await readFile(folder.owner, 'utf8'))).toEqual({
      tenant: 't',
      id: 'batch_1',
    });
    const rejected = (await readFile(folder.rejected, 'utf8')).trim().split('\n');
    expect(rejected.map(line => (JSON.parse(line) as { custom_id: string }).custom_id)).toEqual([
      'bad',
    ]);
    expect(built).toEqual([[4, expect.any(Number)]]);
    expect(built[0]![1]).toBeGreaterThan(0);
    expect(built[0]![1]).toBeLessThan(performance.now() / 1000);
    expect(counts).toEqual(['retrieve success']);
    // What is ingested is not read again.
    expect(await prepare()).toEqual(prepared);
    expect(built).toHaveLength(1);
  });

  it('plans the lines model by model, those with the same system prompt after each other', async () => {
    const line = (id: string, model: string, system?: string) =>
      JSON.stringify({
        ...{ custom_id: id, method: 'POST', url: '/v1/chat/completions' },
        body: {
          model,
          messages: [
            ...(system === undefined ? [] : [{ role: 'system', content: system }]),
            { role: 'user', content: id },
          ],
        },
      });
    const lines = [
      ...[line('0', 'a'), line('1', 'b'), line('2', 'a', 'one'), line('3', 'a', 'two')],
      ...[line('4', 'a', 'one'), line('5', 'b')],
    ];
    const text = lines.map(each => `${each}\n`).join('');
    const { prepared, folder } = await ingest({ pieces: [Buffer.from(text)] });
    if (!('plan' in prepared)) throw new Error('no plan');
    const { plan } = prepared;
    expect([plan.total, plan.firstRejected]).toEqual([6, 6]);
    const input = await readFile(folder.input);
    const planned = plan.models.map(({ model, first, plan: entries }) => [
      ...[model, first],
      ...Array.from({ length: entries.length }, (_, at) => {
        const { offset, length } = entries.at(at);
        return lines.indexOf(input.toString('utf8', offset, offset + length));
      }),
    ]);
    expect(planned[1]).toEqual(['b', 4, 1, 5]);
    expect(planned[0]!.slice(0, 2)).toEqual(['a', 0]);
    expect([
      [2, 4, 3, 0],
      [3, 2, 4, 0],
    ]).toContainEqual(planned[0]!.slice(2));
  });

  const TWO = ['a', 'b'].map(id => `${chatLine(id)}\n`).join('');
  const BAD = `${chatLine('a')}\nno json\n`;

  it.each<[string, Given, readonly string[] | false, string]>([
    ['that does not exist', { isKnown: false }, ['input_file_missing'], ''],
    [
      'whose bytes do not exist',
      {
        read: () => {
          throw new BlobMissing('key');
        },
      },
      ['input_file_missing'],
      'retrieve exhausted',
    ],
    ['without lines', {}, ['empty_file'], 'retrieve success'],
    [
      'as large as it may be',
      { pieces: [Buffer.from(TWO)], settings: { 'batch.max_file_bytes': TWO.length } },
      ...([false, 'retrieve success'] as const),
    ],
    [
      'larger than it may be',
      { pieces: [Buffer.from(TWO)], settings: { 'batch.max_file_bytes': TWO.length - 1 } },
      ...([['file_too_large'], 'retrieve success'] as const),
    ],
    ['with a bad line', { pieces: [Buffer.from(BAD)] }, ['invalid_json_line'], 'retrieve success'],
    [
      'with a bad line that its batch allows',
      { pieces: [Buffer.from(BAD)], metadata: { validation: 'lenient' } },
      ...([false, 'retrieve success'] as const),
    ],
    [
      'with a bad line that its batch does not allow',
      {
        ...{ pieces: [Buffer.from(BAD)], metadata: { validation: 'strict' } },
        settings: { 'batch.validation': 'lenient' },
      },
      ...([['invalid_json_line'], 'retrieve success'] as const),
    ],
  ])('of a file %s', async (_, given, expected, counted) => {
    const { codes, counts, folder } = await ingest(given);
    expect([codes, counts.join()]).toEqual([expected, counted]);
    expect([existsSync(folder.modelMap), existsSync(folder.input)]).toEqual(
      Array(2).fill(expected === false),
    );
  });

  it('fails with its store, and begins anew then', async () => {
    let reads = 0;
    const { prepared, prepare, counts } = await ingest({
      read: () => {
        if (++reads === 1) throw new Error('away');
        return Readable.from([Buffer.from(TWO)]);
      },
    });
    expect([prepared, counts]).toEqual([new Error('away'), ['retrieve retry']]);
    expect(await prepare()).toMatchObject({ plan: { total: 2 } });
  });

  it('names no file once the lease is lost', async () => {
    const { prepared, folder } = await ingest({ pieces: [Buffer.from(TWO)], isLost: true });
    expect(prepared).toEqual(new Error('lease lost'));
    expect([existsSync(folder.modelMap), existsSync(folder.input)]).toEqual([false, false]);
  });

  it('reads no further once the file is rejected', async () => {
    let reads = 0;
    const pieces = function* () {
      for (; reads < 9; reads++) yield Buffer.from('no json\n'.repeat(40_000));
    };
    const { codes } = await ingest({ pieces: pieces() });
    expect([codes, reads < 9]).toEqual([Array(100).fill('invalid_json_line'), true]);
  });

  it('has one place for each model, up to 256', async () => {
    const lines = Array.from({ length: 257 }, (_, at) => `${chatLine(`${at}`, `m${at}`)}\n`);
    const pieces = [Buffer.from(lines.join(''))];
    const { prepared, codes } = await ingest({ pieces, metadata: { validation: 'lenient' } });
    expect([codes, prepared]).toEqual([
      false,
      { plan: expect.objectContaining({ total: 257, firstRejected: 256 }) },
    ]);
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

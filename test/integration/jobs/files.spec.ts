import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, expectError, until } from '../api/gateway-rig.js';
import { answerOf, type FileAnswer, JobsRig } from './jobs-rig.js';

const LIMITS = {
  'files.max_bytes': 300_000,
  'batch.max_file_bytes': 200_000,
  'batch.max_lines': 50,
} as const;

let rig: JobsRig;
beforeAll(async () => {
  rig = await JobsRig.start(LIMITS);
});
afterAll(() => rig.close());

const refused = (...args: Parameters<JobsRig['upload']>) => errorOf(rig.upload(...args));

describe('POST /v1/files', () => {
  it.each([
    ['before', false],
    ['after', true],
  ])('takes the fields %s the file', async (_, last) => {
    const expiry = {
      'expires_after[anchor]': 'created_at',
      'expires_after[seconds]': '7200',
    };
    const file = await answerOf<FileAnswer>(
      rig.upload('{"a":1}\n', { purpose: 'batch', ...expiry }, { last }),
    );
    expect(file).toEqual({
      id: expect.stringMatching(/^file-[0-9a-f]{32}$/),
      object: 'file',
      bytes: 8,
      created_at: expect.any(Number),
      expires_at: file.created_at + 7200,
      filename: 'lines.jsonl',
      purpose: 'batch',
      status: 'processed',
    });
  });

  it('keeps input files of batches for 30 days and others until they are deleted', async () => {
    const [batch, vision] = [await rig.file('x'), await rig.file('x', { purpose: 'vision' })];
    expect(batch.expires_at).toBe(batch.created_at + 30 * 86_400);
    expect(vision).not.toHaveProperty('expires_at');
  });

  it.each([
    ['no purpose', {}, 'missing_required_parameter', 'purpose'],
    ['a purpose of ours', { purpose: 'batch_output' }, 'invalid_value', 'purpose'],
    ['an unknown purpose', { purpose: 'party' }, 'invalid_value', 'purpose'],
    [
      'an expiry without its anchor',
      { purpose: 'batch', 'expires_after[seconds]': '7200' },
      'missing_required_parameter',
      'expires_after.anchor',
    ],
    [
      'an expiry of a second',
      {
        purpose: 'batch',
        'expires_after[anchor]': 'created_at',
        'expires_after[seconds]': '1',
      },
      'invalid_value',
      'expires_after.seconds',
    ],
    [
      'an expiry that is no object',
      { purpose: 'batch', expires_after: 'soon' },
      'invalid_value',
      'expires_after',
    ],
  ])('refuses %s, before or after the file, and keeps no bytes', async (_, fields, code, param) => {
    const before = await rig.blobKeys();
    for (const last of [false, true])
      expect(await refused('x', fields, { last })).toMatchObject({
        status: 400,
        code,
        param,
      });
    expect(await rig.blobKeys()).toEqual(before);
  });

  it.each([
    ['200,001 bytes for a batch', 'x'.repeat(200_001), 'batch', 413, 'file_too_large'],
    ['300,001 bytes for anything', 'x'.repeat(300_001), 'vision', 413, 'file_too_large'],
    ['51 lines for a batch', 'x\n'.repeat(51), 'batch', 400, 'too_many_lines'],
    ['50 lines and one without a break', `${'x\n'.repeat(50)}x`, 'batch', 400, 'too_many_lines'],
    ['0 bytes', '', 'batch', 400, 'empty_file'],
  ])(
    'refuses %s, wherever the purpose stands, and keeps no bytes',
    async (_, content, purpose, status, code) => {
      const before = await rig.blobKeys();
      for (const last of [false, true])
        expect(await refused(content, { purpose }, { last })).toMatchObject({
          status,
          code,
        });
      expect(await rig.blobKeys()).toEqual(before);
    },
  );

  it('takes exactly 200,000 bytes and 50 lines', async () => {
    const lines = `${'x'.repeat(3999)}\n`.repeat(50);
    expect(await rig.file(lines)).toMatchObject({ bytes: 200_000 });
  });

  it('refuses two files, a file under another name, and what is no form', async () => {
    const form = new FormData();
    form.append('file', new Blob(['x']), 'a');
    form.append('file', new Blob(['x']), 'b');
    await expectError(rig.gateway.post('/v1/files', form), {
      code: 'too_many_files',
    });
    const other = new FormData();
    other.append('data', new Blob(['x']), 'a');
    await expectError(rig.gateway.post('/v1/files', other), {
      code: 'missing_required_parameter',
    });
    await expectError(rig.gateway.post('/v1/files', {}), {
      status: 415,
    });
  });

  it('leaves nothing of a client that goes mid-upload', async () => {
    const before = await rig.blobKeys();
    const socket = connect(rig.gateway.port, '127.0.0.1');
    const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
    socket.write(
      `POST /v1/files HTTP/1.1\r\nhost: localhost\r\n` +
        `content-type: multipart/form-data; boundary=b\r\ncontent-length: 100000\r\n\r\n${part}${'x'.repeat(50_000)}`,
    );
    await until(async () => (await rig.gateway.drafts()).length === 1);
    socket.destroy();
    await until(async () => (await rig.gateway.drafts()).length === 0);
    expect(await rig.blobKeys()).toEqual(before);
  });
});

describe('GET /v1/files/{id}/content', () => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
  let id: string;
  beforeAll(async () => {
    ({ id } = await rig.file(bytes, { purpose: 'user_data' }));
  });

  it('gives every byte, with their SHA-256 as the tag', async () => {
    const answer = await rig.content(id);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    expect(answer.headers.get('etag')).toBe(
      `"${createHash('sha256').update(bytes).digest('hex')}"`,
    );
    expect(answer.headers.get('content-length')).toBe('100000');
    expect(answer.headers.get('accept-ranges')).toBe('bytes');
  });

  it.each([
    ['bytes=0-9', 0, 9],
    ['bytes=99990-', 99_990, 99_999],
    ['bytes=-10', 99_990, 99_999],
    ['bytes=5-999999', 5, 99_999],
    ['bytes=-999999', 0, 99_999],
  ])('gives the range %s', async (range, from, to) => {
    const answer = await rig.content(id, { range });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([
      206,
      `bytes ${from}-${to}/100000`,
    ]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes.subarray(from, to + 1))).toBe(true);
  });

  it.each(['bytes=100000-', 'bytes=-0'])('cannot satisfy %s: 416 with the size', async range => {
    const error = await errorOf(rig.content(id, { range }));
    expect(error).toMatchObject({ status: 416, code: 'range_not_satisfiable' });
    expect(error.headers.get('content-range')).toBe('bytes */100000');
  });

  it.each(['bytes=9-5', 'bytes=0-1,5-6', 'lines=0-1', 'bytes=a-b'])('ignores %s', async range => {
    expect((await rig.content(id, { range })).status).toBe(200);
  });

  it('answers 304 to who has it, and all of it to a range of another version', async () => {
    const etag = (await rig.content(id)).headers.get('etag')!;
    expect((await rig.content(id, { 'if-none-match': `"x", W/${etag}` })).status).toBe(304);
    expect((await rig.content(id, { range: 'bytes=0-9', 'if-range': etag })).status).toBe(206);
    expect((await rig.content(id, { range: 'bytes=0-9', 'if-range': '"x"' })).status).toBe(200);
  });

  it('tells a HEAD everything but the bytes', async () => {
    const answer = await rig.content(id, {}, 'HEAD');
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '100000']);
    expect((await answer.arrayBuffer()).byteLength).toBe(0);
  });
});

describe('GET /v1/files', () => {
  it('pages newest first by ids, oldest first when asked, and by purpose', async () => {
    const mine = [];
    for (let index = 0; index < 5; index++)
      mine.push((await rig.file(`${index}`, { purpose: 'evals' })).id);
    const page = (query: string) =>
      answerOf<{
        data: FileAnswer[];
        has_more: boolean;
        first_id: string;
        last_id: string;
      }>(fetch(`${rig.url}/v1/files?purpose=evals&${query}`));
    const first = await page('limit=2');
    expect([first.data.map(file => file.id), first.has_more]).toEqual([[mine[4], mine[3]], true]);
    expect([first.first_id, first.last_id]).toEqual([mine[4], mine[3]]);
    const last = await page(`limit=3&after=${first.last_id}`);
    expect([last.data.map(file => file.id), last.has_more]).toEqual([
      [mine[2], mine[1], mine[0]],
      false,
    ]);
    expect((await page('order=asc&limit=10000')).data.map(file => file.id)).toEqual(mine);
  });

  it.each(['limit=0', 'limit=10001', 'limit=x', 'order=up', 'purpose=party', 'after=file-nobody'])(
    'refuses %s',
    async query => {
      const param = query.split('=')[0];
      await expectError(fetch(`${rig.url}/v1/files?${query}`), {
        status: 400,
        code: 'invalid_value',
        param,
      });
    },
  );
});

describe('DELETE /v1/files/{id}', () => {
  it('takes the row and the bytes, once', async () => {
    const { id } = await rig.file('gone');
    const remove = () => fetch(`${rig.url}/v1/files/${id}`, { method: 'DELETE' });
    expect(await answerOf(remove())).toEqual({ id, object: 'file', deleted: true });
    expect((await rig.blobKeys()).filter(key => key.endsWith(id))).toEqual([]);
    for (const answer of [remove(), rig.content(id), fetch(`${rig.url}/v1/files/${id}`)])
      await expectError(answer, {
        status: 404,
        code: 'file_not_found',
        param: 'id',
      });
  });

  it('is refused while a batch that has not ended reads it, naming the batch', async () => {
    const batch = await rig.batch();
    const remove = () => fetch(`${rig.url}/v1/files/${batch.input_file_id}`, { method: 'DELETE' });
    await expectError(remove(), {
      status: 400,
      code: 'file_in_use',
      message: expect.stringContaining(batch.id),
    });
    await rig.finish(batch.id);
    await answerOf(remove());
  });
});

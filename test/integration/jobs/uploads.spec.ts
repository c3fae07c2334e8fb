import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { expectError } from '../api/gateway-rig.js';
import { answerOf, type FileAnswer, JobsRig } from './jobs-rig.js';

interface UploadAnswer {
  readonly id: string;
  readonly status: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly file: FileAnswer | null;
}

let rig: JobsRig;
beforeAll(async () => {
  rig = await JobsRig.start({ 'batch.max_file_bytes': 1000, 'batch.max_lines': 3 });
});
afterAll(() => rig.close());

const post = (path: string, body: object) => rig.gateway.post(`/v1/uploads${path}`, body);
const begin = (bytes: number, purpose = 'user_data') =>
  post('', {
    bytes,
    purpose,
    filename: 'big.bin',
    mime_type: 'application/octet-stream',
  });

function part(id: string, content: string): Promise<Response> {
  const form = new FormData();
  form.set('data', new Blob([content]), 'blob');
  return rig.gateway.post(`/v1/uploads/${id}/parts`, form);
}

async function uploaded(contents: readonly string[], purpose?: string) {
  const { id } = await answerOf<UploadAnswer>(begin(contents.join('').length, purpose));
  const ids: string[] = [];
  for (const content of contents) ids.push((await answerOf<{ id: string }>(part(id, content))).id);
  return { id, ids };
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex');

describe('a file in parts', () => {
  it('is made of them in the order of part_ids, checked by md5, and its parts go', async () => {
    const { id, ids } = await uploaded(['hello ', 'world']);
    const body = { part_ids: [ids[1], ids[0]], md5: md5('worldhello ').toUpperCase() };
    const upload = await answerOf<UploadAnswer>(post(`/${id}/complete`, body));
    expect(upload).toMatchObject({
      id,
      object: 'upload',
      status: 'completed',
      bytes: 11,
      filename: 'big.bin',
    });
    expect(upload.expires_at - upload.created_at).toBe(3600);
    expect(upload.file).toMatchObject({
      object: 'file',
      bytes: 11,
      filename: 'big.bin',
      purpose: 'user_data',
    });
    expect(await (await rig.content(upload.file!.id)).text()).toBe('worldhello ');
    expect(await rig.blobKeys()).toEqual([expect.stringContaining(upload.file!.id)]);
  });

  it.each([-1, 1])('has its hour when the clock of its gateway was %i h ahead', async hours => {
    const now = Date.now;
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + hours * 3_600_000);
    const { id, expires_at: end } = await answerOf<UploadAnswer>(begin(5));
    clock.mockRestore();
    expect(Math.abs(end - 3600 - now() / 1000)).toBeLessThan(600);
    const { id: only } = await answerOf<{ id: string }>(part(id, 'hello'));
    const { file } = await answerOf<UploadAnswer>(post(`/${id}/complete`, { part_ids: [only] }));
    expect(await (await rig.content(file!.id)).text()).toBe('hello');
  });

  it('stays pending when bytes, md5 or ids are wrong, so that the right ones can follow', async () => {
    const { id, ids } = await uploaded(['one', 'two']);
    const wrong: [object, string][] = [
      [{ part_ids: [ids[0]] }, 'part_ids'],
      [{ part_ids: [ids[0], ids[0]] }, 'part_ids'],
      [{ part_ids: [...ids, 'part_nobody'] }, 'part_ids'],
      [{ part_ids: ids, md5: md5('other') }, 'md5'],
    ];
    for (const [body, param] of wrong)
      await expectError(post(`/${id}/complete`, body), {
        code: 'upload_incomplete',
        param,
      });
    expect((await answerOf<UploadAnswer>(post(`/${id}/complete`, { part_ids: ids }))).status).toBe(
      'completed',
    );
  });

  it('takes no parts after its end, and ends once', async () => {
    const { id, ids } = await uploaded(['x']);
    expect(await answerOf(post(`/${id}/cancel`, {}))).toMatchObject({
      id,
      status: 'cancelled',
      file: null,
    });
    for (const late of [
      part(id, 'y'),
      post(`/${id}/complete`, { part_ids: ids }),
      post(`/${id}/cancel`, {}),
    ])
      await expectError(late, {
        status: 400,
        code: 'upload_not_pending',
      });
  });

  it('is completed once by two that try at the same time', async () => {
    const { id, ids } = await uploaded(['race']);
    const answers = await Promise.all([1, 2].map(() => post(`/${id}/complete`, { part_ids: ids })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  });

  it('for a batch has the limits of such files: announced size first, then lines', async () => {
    await expectError(begin(1001, 'batch'), {
      status: 413,
      code: 'file_too_large',
    });
    const { id, ids } = await uploaded(['a\nb\n', 'c\nd\n'], 'batch');
    await expectError(post(`/${id}/complete`, { part_ids: ids }), {
      code: 'too_many_lines',
    });
  });

  it.each([
    [{ bytes: 0 }, 'invalid_value', 'bytes'],
    [{ bytes: 1.5 }, 'invalid_value', 'bytes'],
    [{ filename: '' }, 'missing_required_parameter', 'filename'],
    [{ mime_type: undefined }, 'missing_required_parameter', 'mime_type'],
    [{ purpose: 'party' }, 'invalid_value', 'purpose'],
    [
      { expires_after: { anchor: 'tomorrow', seconds: 3600 } },
      'invalid_value',
      'expires_after.anchor',
    ],
  ])('is refused with %j', async (fields, code, param) => {
    const good = { bytes: 1, filename: 'a', mime_type: 'text/plain', purpose: 'evals' };
    await expectError(post('', { ...good, ...fields }), {
      status: 400,
      code,
      param,
    });
  });

  it('that nobody began is not found', async () => {
    for (const answer of [part('upload_nobody', 'x'), post('/upload_nobody/cancel', {})])
      await expectError(answer, {
        status: 404,
        code: 'upload_not_found',
      });
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import fastify from 'fastify';
import { settingsFrom } from '../../platform/config/settings.js';
import { Spool } from '../../platform/storage/upload-spool.js';
import { MULTIPART_OPTIONS } from '../http/multipart-form.js';
import { type FileRules, readUpload } from './upload-reader.js';

const folder = mkdtempSync(join(tmpdir(), 'upload-reader-spec-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HEAD = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n';
const WHOLE = `${HEAD}abc\r\n--x--\r\n`;

describe('readUpload', () => {
  const app = fastify();
  let rules: FileRules & { beforeFile: (fields: Fields) => void };
  let failure: unknown;

  const spool = new Spool(settingsFrom({ 'data.dir': folder }));
  beforeAll(async () => {
    await spool.onModuleInit();
    await app.register(multipart, MULTIPART_OPTIONS);
    app.post('/', async request => {
      const reading = readUpload(request, spool, { limitBytes: 1000, ...rules });
      failure = await reading.then(
        ({ audio }) => ('size' in audio ? audio.dispose() : undefined),
        (error: unknown) => error,
      );
      return {};
    });
  });
  afterAll(() => app.close());

  const send = async (payload: string, more: Partial<typeof rules> = {}): Promise<unknown> => {
    rules = { beforeFile: () => undefined, ...more };
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    await app.inject({ method: 'POST', url: '/', headers, payload });
    return failure;
  };

  it('takes a whole form', async () => {
    expect(await send(WHOLE)).toBeUndefined();
  });

  it('says that a form which breaks off in its file cannot be read', async () => {
    expect(await send(`${HEAD}abc`)).toMatchObject({ code: 'invalid_multipart' });
    expect(await send(HEAD.slice(0, 40))).toMatchObject({ code: 'invalid_multipart' });
  });

  it('leaves a defect of the gateway a defect, wherever in the upload it happens', async () => {
    const defect = new TypeError('x is not a function');
    const beforeFile = (): void => {
      throw defect;
    };
    const receive = (): AsyncIterable<Buffer> => Readable.from([0]).map(beforeFile);
    expect(await send(WHOLE, { beforeFile })).toBe(defect);
    expect(await send(WHOLE, { receive })).toBe(defect);
  });
});

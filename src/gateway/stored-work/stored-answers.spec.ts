import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { newStoredBlob } from '../../platform/storage/blob-keys.js';
import { FsBlobStore } from '../../platform/storage/fs-blob-store.js';
import { StoredAnswers, storedText } from './stored-answers.js';

const CHUNK =
  'data: {"id":"1","choices":[{"delta":{"content":"event: error data: {\\"error\\":"}}]}\n\n';
const ERROR = 'data: {"error":{"code":"worker_lost"}}\n\n';

describe('an answer that is stored for a retry', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'stored-answers-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it.each([
    [
      'a whole stream',
      'text/event-stream; charset=utf-8',
      [CHUNK, CHUNK, 'data: [DONE]\n\n'],
      true,
    ],
    ['a stream that ends with an error', 'text/event-stream', [CHUNK, ERROR], false],
    [
      'one whose error is cut in two',
      'text/event-stream',
      [CHUNK, ERROR.slice(0, 9), ERROR.slice(9)],
      false,
    ],
    [
      'a failed response',
      'text/event-stream',
      [CHUNK, 'event: response.failed\ndata: {}\n\n', 'data: [DONE]'],
      false,
    ],
    [
      'lines of which the last is an error',
      'application/x-ndjson',
      ['{}\n', '{"error":"x"}\n'],
      false,
    ],
    ['JSON', 'application/json', [ERROR], true],
  ])('%s: %j', async (_, type, parts, isWhole) => {
    const answers = new StoredAnswers(new FsBlobStore(folder));
    const attempt = { tenant: 'acme', name: 'n', blob: newStoredBlob(), attempts: 1 };
    const bytes = Readable.from(parts.map(part => Buffer.from(part)));
    const head = { status: 200, headers: { 'content-type': type } };
    expect(await answers.store(attempt, head, bytes)).toMatchObject({ isWhole });
    const { body } = (await answers.openAnswer(attempt))!;
    expect((await storedText(body)).toString()).toBe(parts.join(''));
  });
});

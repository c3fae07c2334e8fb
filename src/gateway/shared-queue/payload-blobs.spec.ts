import { Readable } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { MAX_INLINE_BYTES, QUEUE_BLOBS } from '@switchyard/shared-queue/keys.js';
import {
  audioSource,
  request,
  synthesize,
  transcribeTask,
} from '../../../test/support/pool-harness.js';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { FsBlobStore } from '../../platform/storage/fs-blob-store.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { type WorkerTask } from '../../worker-client/worker-task.js';
import { PayloadBlobs } from './payload-blobs.js';
import { type SharedQueueLink } from './shared-queue-link.js';

Logger.overrideLogger(false);

describe('speech in a blob', () => {
  const store = new FsBlobStore(temporaryFolder());
  const blobs = new PayloadBlobs(store, settingsFrom({}), {} as SharedQueueLink);
  const read = async (from?: number) =>
    Buffer.concat(await Array.fromAsync(blobs.read('plane/speech/a', from))).toString();

  it('is read from the byte that was missed, to its end', async () => {
    await store.write('plane/speech/a', Readable.from([Buffer.from('spoken')]));
    expect([await read(), await read(2), await read(5)]).toEqual(['spoken', 'oken', 'n']);
  });

  it('is not read again when nothing was missed', async () => {
    await store.write('plane/speech/a', Readable.from([Buffer.from('spoken')]));
    expect(await read(6)).toBe('');
  });

  it('that was removed is missed, not taken for silence', async () => {
    const missing = Array.fromAsync(blobs.read('plane/speech/gone'));
    await expect(missing).rejects.toBeInstanceOf(BlobMissing);
  });
});

describe('the fingerprint of a job', () => {
  const clock = { nowMs: () => 0 };
  const blobs = new PayloadBlobs(new FsBlobStore(temporaryFolder()), settingsFrom({}), {
    clock,
  } as SharedQueueLink);
  const voice = (name: string, reference: string) => ({ name, reference: Buffer.from(reference) });
  const heard = {
    ...transcribeTask('', () => Promise.resolve(Buffer.from('a'))),
    knownSpeakers: [voice('Ada', 'one')],
  };
  const spoken = synthesize('text').task;
  const embedded = { kind: 'embed', inputs: 1, body: Buffer.from('[]') } as WorkerTask;
  const long = Buffer.alloc(MAX_INLINE_BYTES + 1);

  async function fingerprint(payload: WorkerTask, model = 'm') {
    const { signal } = new AbortController();
    const { job } = await blobs.place({ ...request(payload), model }, 0, signal);
    return job.fingerprint;
  }

  it.each<[string, WorkerTask, object]>([
    ['prompt', heard, { prompt: 'p' }],
    ['task', heard, { task: 'translate' }],
    ['audio', heard, { audio: audioSource(() => Promise.resolve(Buffer.from('b'))) }],
    ['address of the audio', heard, { audio: { url: 'http://a' } }],
    ['names of known speakers', heard, { knownSpeakers: [voice('Bob', 'one')] }],
    ['voices of known speakers', heard, { knownSpeakers: [voice('Ada', 'two')] }],
    ['text', spoken, { text: 'other' }],
    ['speed', spoken, { speed: 2 }],
    ['body', embedded, { body: Buffer.from('{}') }],
    ['long body', embedded, { body: long }],
    ['form', embedded, { form: 'rerank' }],
  ])('is another for another %s, and the same for the same', async (_, payload, changes) => {
    const first = await fingerprint(payload);
    expect(await fingerprint(payload)).toBe(first);
    expect(await fingerprint({ ...payload, ...changes })).not.toBe(first);
  });

  it('is another for another model', async () => {
    expect(await fingerprint(spoken, 'other')).not.toBe(await fingerprint(spoken));
  });
});

describe('a job', () => {
  const signal = new AbortController().signal;
  function placing(store: Partial<BlobStore> = new FsBlobStore(temporaryFolder())) {
    const link = { clock: { nowMs: () => 90_000 } } as SharedQueueLink;
    return new PayloadBlobs(store as BlobStore, settingsFrom({}), link);
  }
  const place = (payload: WorkerTask, blobs = placing()) =>
    blobs.place(
      { ...request(payload, 'r'), enqueuedAtMs: 1000, queueDeadlineMs: 9000 },
      2000,
      signal,
    );
  const embedding = (bytes: number): WorkerTask => ({
    kind: 'embed',
    inputs: 1,
    form: 'rerank',
    body: Buffer.alloc(bytes, 'a'),
  });

  it('has its instants by the clock of Redis', async () => {
    const { job } = await place(synthesize('text').task);
    expect(job).toMatchObject({
      v: 1,
      id: 'r',
      kind: 'speech',
      priority: 'batch',
      timeoutMs: 30_000,
      acceptedMs: 89_000,
      deadlineMs: 97_000,
    });
  });

  it.each([
    [MAX_INLINE_BYTES, 0],
    [MAX_INLINE_BYTES + 1, 1],
  ])('of %d bytes has its body in %d blobs', async (bytes, written) => {
    const { job, blobs } = await place(embedding(bytes));
    const body = written ? { blob: blobs[0] } : 'a'.repeat(bytes);
    expect([blobs.length, job.options]).toEqual([written, { inputs: 1, form: 'rerank', body }]);
  });

  it.each(['transcribe', 'translate'] as const)('to %s names its audio', async task => {
    const heard = transcribeTask('', () => Promise.resolve(Buffer.from('a')));
    const { job, blobs } = await place({ ...heard, task });
    const kind = task === 'translate' ? 'translation' : 'transcription';
    expect(job).toMatchObject({ kind, audio: { blob: blobs[0] } });
    const named = await place({ ...heard, audio: { url: 'http://a' } });
    expect([named.blobs, named.job]).toMatchObject([[], { audio: { url: 'http://a' } }]);
  });

  it('leaves no blob behind when one cannot be written', async () => {
    const remove = jest.fn<BlobStore['remove']>(() => Promise.reject(new Error('gone')));
    const full = new Error('full');
    const blobs = placing({ remove, write: () => Promise.reject(full) });
    await expect(place(embedding(MAX_INLINE_BYTES + 1), blobs)).rejects.toBe(full);
    expect(remove.mock.calls).toEqual([[expect.stringMatching(`^${QUEUE_BLOBS}inputs/`)]]);
  });

  it('of text does not go through the queue', async () => {
    await expect(place({ kind: 'generate' } as WorkerTask)).rejects.toThrow('generate');
  });

  it('that has expired twice over has no result any more', async () => {
    jest.useFakeTimers();
    const remove = jest.fn<BlobStore['remove']>(() => Promise.resolve());
    placing({ remove }).removeLater('b', 10);
    await jest.advanceTimersByTimeAsync(19);
    expect(remove).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(remove.mock.calls).toEqual([['b']]);
    jest.useRealTimers();
  });

  it('is read to its last byte and no further', async () => {
    const read = jest.fn<BlobStore['read']>(() => Readable.from([]));
    const blobs = placing({ read, size: () => Promise.resolve(6) });
    await Array.fromAsync(blobs.read('b', 2));
    expect(read.mock.calls).toEqual([['b', { from: 2, to: 5 }]]);
  });
});

describe('blobs that are left', () => {
  const settings = settingsFrom({ 'redis.result_ttl_ms': 50_000, 'queue.timeout_ms': 20_000 });
  /** A result is read until its job expires; it may be written ten minutes after. */
  const RESULTS_MS = 650_000;
  /** An input may wait, and be read for an hour. */
  const INPUTS_MS = 50_000 + 20_000 + 3_600_000;

  it.each([
    ['speech/a', RESULTS_MS],
    ['results/a', RESULTS_MS],
    ['inputs/a', INPUTS_MS],
    ['audio/a', INPUTS_MS],
  ])('such as %s are removed when they are older than %d ms', async (name, ms) => {
    const key = `${QUEUE_BLOBS}${name}`;
    const removed: string[] = [];
    let ageMs = ms;
    const store = {
      keys: () => Readable.from([{ key, writtenAtMs: 9_000_000 - ageMs }]),
      remove: (gone: string) => {
        removed.push(gone);
        return Promise.resolve();
      },
    };
    const link = { clock: { nowMs: () => 9_000_000 } } as SharedQueueLink;
    const blobs = new PayloadBlobs(store as unknown as BlobStore, settings, link);
    await blobs.sweep();
    expect(removed).toEqual([]);
    ageMs += 1;
    await blobs.sweep();
    expect(removed).toEqual([key]);
  });
});

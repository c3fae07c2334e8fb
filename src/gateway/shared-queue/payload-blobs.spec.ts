import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { MAX_INLINE_BYTES } from '@switchyard/shared-queue/keys.js';
import {
  audioSource,
  request,
  synthesize,
  transcribeTask,
} from '../../../test/support/pool-harness.js';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { FsBlobStore } from '../../platform/storage/fs-blob-store.js';
import { BlobMissing } from '../../platform/storage/storage-problems.js';
import { type WorkerTask } from '../../worker-client/worker-task.js';
import { PayloadBlobs } from './payload-blobs.js';
import { type SharedQueueLink } from './shared-queue-link.js';

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

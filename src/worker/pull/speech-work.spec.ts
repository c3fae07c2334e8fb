import { expect, it, jest } from '@jest/globals';
import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { type QueueJob } from '@switchyard/shared-queue/job.codec.js';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { type RequestQueue } from '@switchyard/shared-queue/worker/request-queue.js';
import { type CallEnvelope } from '@switchyard/worker-protocol/call.codec.js';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { RequestPriority } from '../../core/request/request-priority.js';
import { type SynthesisService } from '../execution/synthesis.service.js';
import { type PullConnections } from './pull-connections.js';
import { SpeechWork } from './speech-work.js';

const { REALTIME, BATCH } = RequestPriority;
const job = { kind: 'speech', options: { text: 'Hello.', speed: 1 } } as QueueJob;

/** @param subscribers gateways that receive the audio while it is made */
function work(subscribers: number) {
  const synthesize = jest.fn<SynthesisService['synthesize']>((_call, _signal, receiver) => {
    receiver.header({ contentType: 'audio/pcm', sampleRate: 24_000 });
    receiver.audio(Buffer.alloc(2));
    const execution = { prepMs: 0, readyWaitMs: 0, deviceMs: 1, batchSize: 1, batchId: 'b' };
    return Promise.resolve({ durationS: 1, lateS: 0, execution });
  });
  const redis = {
    pubsub: (_asked: string, channel: string) => Promise.resolve([channel, subscribers]),
    publish: () => Promise.resolve(subscribers),
  };
  const blobs = { write: () => Promise.resolve(), remove: () => Promise.resolve() };
  const speech = new SpeechWork(
    { info: { capabilities: [] }, kind: 'tts' } as unknown as SpeechSynthesizer,
    blobs as unknown as BlobStore,
    { synthesize } as unknown as SynthesisService,
    { keys: new QueueKeys('t'), for: () => redis } as unknown as PullConnections,
    { name: 'q' } as RequestQueue,
  );
  const perform = async (priority: RequestPriority): Promise<boolean | undefined> => {
    const envelope = { requestId: 'r', priority } as CallEnvelope;
    await speech.perform(job, envelope, new AbortController().signal);
    return synthesize.mock.lastCall![3];
  };
  return perform;
}

it.each([
  ['is heard while it is made where its gateway listens', 1, REALTIME, true],
  ['is a file, and comes after all that is heard, where no gateway does', 0, REALTIME, false],
  ['is a file in the class BATCH, whoever listens', 1, BATCH, false],
])('speech of a job %s', async (_title, subscribers, priority, isHeard) => {
  expect(await work(subscribers)(priority)).toBe(isHeard);
});

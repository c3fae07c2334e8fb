import { once } from 'node:events';
import { type ClientDuplexStream } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PLAIN_TRANSCRIPTION } from '@switchyard/engine-api/speech-recognizer.js';
import { audioMessage } from '@switchyard/worker-protocol/call.codec.js';
import {
  decodeUploadAnswer,
  encodeUploadStart,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '@switchyard/worker-protocol/stt.codec.js';
import { decodeFailure } from '../../../src/contracts/errors/status.codec.js';
import { type DomainError } from '../../../src/core/errors/domain-error.js';
import { RequestPriority } from '../../../src/core/request/request-priority.js';
import { type HostedWorker } from '../../support/hosted-worker.js';
import { pcmWav } from '../../support/pcm-wav.js';
import { SttCaller } from './stt-caller.js';
import { hostedWorker, sttModel, WorkerProcess } from './worker-process.js';

const MIB = 1024 * 1024;
const RATE = 16_000;

type UploadAnswer = NonNullable<ReturnType<typeof decodeUploadAnswer>>;
type Upload = ClientDuplexStream<TranscribeUploadRequest, TranscribeUploadResponse>;

/** So many times 5 s of tone and half a second of silence. */
function speechLike(times: number): Buffer {
  const tone = Int16Array.from({ length: 5 * RATE }, (_, at) => (at % 80 < 40 ? 6000 : -6000));
  const one = Buffer.concat([Buffer.from(tone.buffer), Buffer.alloc(RATE)]);
  return pcmWav(Buffer.concat(Array.from({ length: times }, () => one)), RATE);
}

const start = (requestId: string, prompt = '') =>
  encodeUploadStart({
    ...PLAIN_TRANSCRIPTION,
    ...{
      requestId,
      priority: RequestPriority.BATCH,
      group: { id: requestId, size: 1 },
      filename: 'a.wav',
      prompt,
    },
  });

/** Everything the worker says, the failure last. */
async function heard(call: Upload): Promise<{ answers: UploadAnswer[]; failure?: DomainError }> {
  const answers: UploadAnswer[] = [];
  try {
    for await (const message of call as AsyncIterable<TranscribeUploadResponse>) {
      const answer = decodeUploadAnswer(message);
      if (answer) answers.push(answer);
    }
    return { answers };
  } catch (error) {
    return { answers, failure: decodeFailure(error) };
  }
}

async function send(call: Upload, bytes: Buffer, size = 65_536): Promise<void> {
  for (let at = 0; at < bytes.length && !call.destroyed; at += size) {
    if (!call.write(audioMessage(bytes.subarray(at, at + size)))) {
      await Promise.race([once(call, 'drain'), once(call, 'status')]);
    }
  }
}

describe('an upload in pieces to a real worker', () => {
  let worker: HostedWorker;
  let caller: SttCaller;
  beforeAll(async () => {
    const options = { input: 'pcm', baseMs: 20, steps: 20, maxBatch: 4 };
    worker = await hostedWorker({
      model: { ...sttModel, options },
      uploadLimitBytes: 3 * MIB,
    });
    caller = new SttCaller(worker.address);
  });
  afterAll(async () => {
    caller.close();
    await worker[Symbol.asyncDispose]();
  });
  const open = (): Upload => caller.client.transcribeUpload();

  async function upload(id: string, bytes: Buffer) {
    const call = open();
    const answer = heard(call);
    call.write(start(id));
    await send(call, bytes);
    call.end();
    return answer;
  }

  it('comes back as one segment per window of at most 30 s, in order of time, then the whole', async () => {
    const { answers, failure } = await upload('long', speechLike(15));
    expect(failure).toBeUndefined();
    const segments = answers.flatMap(answer => (answer.kind === 'segment' ? [answer.segment] : []));
    expect(segments.map(({ id }) => id)).toEqual([0, 1, 2]);
    expect(segments.map(({ start: at }) => at)).toEqual([0, 27.35, 54.85]);
    const done = answers.at(-1);
    if (done?.kind !== 'transcript') throw new Error('no transcript');
    expect(done.transcript.segments).toEqual(segments);
    expect(done.transcript.text).toBe(segments.map(({ text }) => text).join(' '));
    expect(done.transcript.durationS).toBeCloseTo(82.5, 1);
  });

  it('in the smallest pieces is the same file', async () => {
    const call = open();
    const answer = heard(call);
    call.write(start('tiny'));
    await send(call, speechLike(1).subarray(0, 3000), 7);
    call.end();
    expect((await answer).answers.at(-1)).toMatchObject({ kind: 'transcript' });
  });

  it.each([
    ['nothing after its start', Buffer.alloc(0), 'empty_file'],
    ['what is no audio', Buffer.from('not audio '.repeat(1000)), 'invalid_audio'],
    ['a header without samples', pcmWav(Buffer.alloc(0), RATE), 'audio_too_short'],
    ['one byte more than the limit', Buffer.alloc(3 * MIB + 1), 'file_too_large'],
  ])('of %s fails, and the worker goes on', async (what, bytes, code) => {
    const { answers, failure } = await upload(`bad ${what}`, bytes);
    expect(failure?.code).toBe(code);
    expect(answers).toEqual([]);
    expect((await upload(`after ${what}`, speechLike(1))).failure).toBeUndefined();
  });

  it.each([
    ['that ends before its start', [] as TranscribeUploadRequest[]],
    ['that begins with audio', [audioMessage(Buffer.alloc(10))]],
    ['that starts twice', [start('twice'), start('twice')]],
    ['with a message of no kind', [start('nothing'), { message: undefined }]],
  ])('%s is refused', async (_what, messages) => {
    const call = open();
    const answer = heard(call);
    for (const message of messages) call.write(message);
    call.end();
    expect((await answer).failure?.code).toBe('invalid_value');
  });

  it('whose caller leaves in the middle is forgotten', async () => {
    const call = open();
    const answer = heard(call);
    call.write(start('leaver'));
    await send(call, Buffer.alloc(MIB));
    await caller.inFlight(1);
    call.cancel();
    await answer;
    await caller.inFlight(0);
  });

  it('that never ends is stopped by a Cancel', async () => {
    const call = open();
    const answer = heard(call);
    call.write(start('endless'));
    await caller.inFlight(1);
    expect(await caller.cancel('endless')).toBe(true);
    expect((await answer).failure?.code).toBe('request_cancelled');
    await caller.inFlight(0);
  });

  it('is stopped by a Cancel between windows, with nothing of it left in the line', async () => {
    const call = open();
    const answer = heard(call);
    call.write(start('stopped'));
    await send(call, speechLike(16));
    call.end();
    await once(call, 'readable').catch(() => undefined);
    await caller.cancel('stopped');
    await answer;
    await caller.inFlight(0);
    expect((await upload('next', speechLike(1))).failure).toBeUndefined();
  });

  it('dies with its worker, as lost', async () => {
    const doomed = new WorkerProcess({
      model: { ...sttModel, options: { input: 'pcm' } },
    });
    const other = new SttCaller(await doomed.ready());
    const call = other.client.transcribeUpload();
    const answer = heard(call);
    call.write(start('orphan'));
    await other.inFlight(1);
    await doomed.kill();
    expect((await answer).failure?.code).toBe('worker_lost');
    other.close();
  });
});

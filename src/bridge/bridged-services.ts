import { addAbortListener } from 'node:events';
import { Writable } from 'node:stream';
import { type Provider } from '@nestjs/common';
import { DeviceGone } from '@switchyard/engine-api/engine.js';
import { type CallEnvelope, encodeStreamEvent } from '@switchyard/worker-protocol/call.codec.js';
import { type TranscribeCallFields } from '@switchyard/worker-protocol/stt.codec.js';
import { abortError } from '../core/errors/abort-error.js';
import { DomainError } from '../core/errors/domain-error.js';
import { WAITING } from '../core/request/device-progress.js';
import { type RequestKey } from '../core/request/request-key.js';
import { WorkerLostError } from '../core/request/worker-lost.js';
import { type ModelKind } from '../platform/config/model-spec.js';
import { type StreamHandle } from '../worker-client/stream-handle.js';
import {
  type AudioSource,
  type AudioUrl,
  type SpeechSink,
  type TranscribeTask,
  type WorkerReply,
  type WorkerTask,
} from '../worker-client/worker-task.js';
import { AudioDownload } from '../worker/audio/audio-download.js';
import { emptyFile, MAX_AUDIO_S } from '../worker/audio/decode.js';
import { type ReceivedFile } from '../worker/audio/received-file.js';
import { ENGINE } from '../worker/engines/worker-engine.js';
import { EmbeddingService } from '../worker/execution/embedding.service.js';
import { LongTranscriptionService } from '../worker/execution/long-transcription.service.js';
import { SHORT_FILE_S, RecognitionService } from '../worker/execution/recognition.service.js';
import { isDiarizedBeside, recognisedWithSpeakers } from '../worker/execution/speaker-naming.js';
import { SynthesisService } from '../worker/execution/synthesis.service.js';
import {
  audioAndCommits,
  type StreamConversation,
  StreamService,
} from '../worker/grpc/stream.service.js';
import { InFlightCalls } from '../worker/lifecycle/in-flight-calls.js';
import { type ExternalWorker } from './external-worker.js';

/**
 * In place of `StreamService`: a live stream goes on to the worker, frame by frame, at
 * the pace of both.
 */
const bridgedStreams = (worker: ExternalWorker): Pick<StreamService, 'serve'> => ({
  /**
   * Resolves when the caller has ended the stream and all events are sent. @throws
   * DomainError or the abort's error
   */
  async serve(config, conversation, signal) {
    const connection = await worker.connected();
    await carry(connection.openStream(config), conversation, signal);
  },
});

async function carry(
  stream: StreamHandle,
  conversation: StreamConversation,
  signal: AbortSignal,
): Promise<void> {
  using _ = addAbortListener(signal, () => void stream.cancel());
  try {
    await conversation.send({ event: { $case: 'ready', value: {} } });
    await Promise.all([sendUp(stream, conversation), sendDown(stream, conversation)]);
  } catch (error) {
    throw signal.aborted ? abortError(signal) : error;
  } finally {
    // Without effect on one that has ended.
    void stream.cancel();
  }
}

async function sendUp(stream: StreamHandle, conversation: StreamConversation): Promise<void> {
  for await (const message of audioAndCommits(conversation))
    if (message.$case === 'audio') await stream.sendFrame(message.value);
    else await stream.commit();
  await stream.close();
}

async function sendDown(stream: StreamHandle, conversation: StreamConversation): Promise<void> {
  for await (const event of stream.receiveEvents())
    await conversation.send(encodeStreamEvent(event));
}

/** Upload pieces, as gateways send them. */
const PIECE_BYTES = 65_536;

/** The worker that computes, and the calls of this process. */
interface Behind {
  readonly worker: ExternalWorker;
  readonly calls: InFlightCalls;
}

/**
 * A request of this process as a call of the worker behind it: envelope and group go
 * through as they came.
 * @throws DomainError the worker's own failure, or the abort's error when the
 *   worker has stopped
 */
async function perform<K extends WorkerReply['kind']>(
  { worker, calls }: Behind,
  { requestId, priority, group, tenant }: CallEnvelope & { readonly tenant?: string },
  payload: WorkerTask,
  signal: AbortSignal,
): Promise<Extract<WorkerReply, { kind: K }>> {
  const connection = await worker.connected();
  const key = requestId as RequestKey;
  const call = connection.execute({
    request: { key, priority, tenant, payload },
    group,
  });
  const computed = calls.onDevice([requestId], async () => (await call.progress()) ?? WAITING);
  using _ = addAbortListener(signal, () => void connection.cancel(key, 'client'));
  try {
    const answer = await call.reply;
    if (signal.aborted) throw abortError(signal);
    return answer as Extract<WorkerReply, { kind: K }>;
  } catch (error) {
    await call.finished;
    throw signal.aborted ? abortError(signal) : failureOf(worker, error);
  } finally {
    computed();
  }
}

/**
 * A worker that takes nothing now gives the request back; one that was lost with it has
 * had one of its attempts.
 */
function failureOf(worker: ExternalWorker, error: unknown): unknown {
  if (!(error instanceof WorkerLostError)) return error;
  if (error.kind === 'refused' || error.kind === 'disconnected')
    return new DeviceGone(error.message, { cause: error });
  worker.lose(`it accepts no requests: ${error.message}`);
  return new DomainError('shutting_down', error.message);
}

const bridgedRecognition = (
  engine: ExternalWorker,
  calls: InFlightCalls,
  downloads: AudioDownload,
): Pick<RecognitionService, 'transcribe'> => ({
  async transcribe(call, signal) {
    const audio = isDiarizedBeside(engine, call)
      ? await downloads.bytes(call.audio, signal)
      : call.audio;
    const bytes = (): Promise<Buffer> => downloads.bytes(audio, signal);
    const source = Buffer.isBuffer(audio) ? inMemory(audio) : audio;
    return recognisedWithSpeakers(
      { engine, call, bytes, mostS: SHORT_FILE_S, signal },
      (own, stop) => perform<'transcript'>({ worker: engine, calls }, own, task(own, source), stop),
    );
  },
});

/** The worker cuts long audio. */
const bridgedLongTranscription = (
  engine: ExternalWorker,
  calls: InFlightCalls,
): Pick<LongTranscriptionService, 'transcribe'> => ({
  transcribe(call, file, signal, sink) {
    return recognisedWithSpeakers(
      { engine, call, bytes: () => file.bytes(), mostS: MAX_AUDIO_S, signal, sink },
      async (own, stop, held) => {
        if (file.size === 0) throw emptyFile();
        // Who wants segments is sent an upload (`transcribe`).
        const onSegment: TranscribeTask['onSegment'] = (segment, logprobs) =>
          held?.(segment, [], logprobs);
        const payload = { ...task(own, onDisk(file)), onSegment };
        return perform<'transcript'>({ worker: engine, calls }, own, payload, stop);
      },
    );
  },
});

/** The worker encodes. */
const bridgedSynthesis = (
  worker: ExternalWorker,
  calls: InFlightCalls,
): Pick<SynthesisService, 'synthesize'> => ({
  synthesize(call, signal, receiver) {
    const { text, voice, speed, format } = call;
    const audio = new Writable({
      write(bytes: Buffer, _, done) {
        receiver.audio(bytes);
        done();
      },
    });
    const sink: SpeechSink = { audio, header: value => receiver.header(value) };
    const payload = { kind: 'synthesize', text, voice, speed, format, sink } as const;
    return perform<'speech'>({ worker, calls }, call, payload, signal);
  },
});

const bridgedEmbedding = (
  worker: ExternalWorker,
  calls: InFlightCalls,
): Pick<EmbeddingService, 'embed'> => ({
  embed(call, signal) {
    const { body, inputs, form } = call;
    const payload = { kind: 'embed', body, inputs, form } as const;
    return perform<'embeddings'>({ worker, calls }, call, payload, signal);
  },
});

function task(call: TranscribeCallFields, audio: AudioSource | AudioUrl): TranscribeTask {
  const { requestId: _, priority: _priority, group: _group, ...params } = call;
  return { ...params, kind: 'transcribe', audio };
}

const inMemory = (audio: Buffer): AudioSource => ({
  size: audio.length,
  bytes: () => Promise.resolve(audio),
  // eslint-disable-next-line @typescript-eslint/require-await -- a source may have to read
  async *chunks() {
    for (let at = 0; at < audio.length; at += PIECE_BYTES)
      yield audio.subarray(at, at + PIECE_BYTES);
  },
  dispose: () => Promise.resolve(),
});

const onDisk = (file: ReceivedFile): AudioSource => ({
  size: file.size,
  bytes: () => file.bytes(),
  chunks: () =>
    file.handle.createReadStream({
      start: 0,
      autoClose: false,
      highWaterMark: PIECE_BYTES,
    }),
  dispose: () => Promise.resolve(),
});

/** What a worker process computes with, replaced by calls of the worker behind it. */
export const BRIDGE_PROVIDERS: Readonly<Record<ModelKind, Provider[]>> = {
  stt: [
    {
      provide: RecognitionService,
      inject: [ENGINE, InFlightCalls, AudioDownload],
      useFactory: bridgedRecognition,
    },
    {
      provide: LongTranscriptionService,
      inject: [ENGINE, InFlightCalls],
      useFactory: bridgedLongTranscription,
    },
    { provide: StreamService, inject: [ENGINE], useFactory: bridgedStreams },
  ],
  tts: [
    { provide: SynthesisService, inject: [ENGINE, InFlightCalls], useFactory: bridgedSynthesis },
  ],
  embedding: [
    { provide: EmbeddingService, inject: [ENGINE, InFlightCalls], useFactory: bridgedEmbedding },
  ],
  // Never pulled (D-21).
  llm: [],
};

import { EventEmitter, once } from 'node:events';
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerWritableStream,
  status,
} from '@grpc/grpc-js';
import { type ProgressResponse } from '@switchyard/worker-protocol/call.codec.js';
import {
  encodeHealth,
  healthDefinition,
  type HealthServer,
  NOT_SERVING,
  SERVING,
  type WorkerHealthReport,
} from '@switchyard/worker-protocol/health.codec.js';
import {
  decodeTranscribeCall,
  encodeFinalSegment,
  encodeTranscript,
  encodeUploadDone,
  speechToTextDefinition,
  type SpeechToTextServer,
  type TranscribeCallFields,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '@switchyard/worker-protocol/stt.codec.js';
import {
  type SynthesizeRequest,
  type SynthesizeResponse,
  textToSpeechDefinition,
  type TextToSpeechServer,
} from '@switchyard/worker-protocol/tts.codec.js';
import { isErrorCode } from '../../src/contracts/errors/error-registry.js';
import { encodeFailure } from '../../src/contracts/errors/status.codec.js';
import { DomainError } from '../../src/core/errors/domain-error.js';
import { callersId } from '../../src/core/request/request-key.js';
import { leftover } from './leftovers.js';

/**
 * Sent as the prompt (or the text) of a request: tells the fixture what to do with it.
 */
export const script = {
  /** Answers when released or cancelled. */
  hold: 'hold',
  /** Held, and deaf to cancels. */
  deaf: 'deaf',
  fail: (code: string) => `fail:${code}`,
  /** Answers when so many lines have been taken from its stderr. */
  flood: (lines: number) => `flood:${lines}`,
  /** Recognition only: these segments, one second each, and their words. */
  say: (...segments: readonly string[]) => `say:${segments.join('|')}`,
  /** An upload's segments are told at once, the whole when released. */
  sayAndHold: (...segments: readonly string[]) => `sayAndHold:${segments.join('|')}`,
  /** Speech only: so many chunks of 64 KiB. */
  chunks: (count: number) => `chunks:${count}`,
};

const EXECUTION = {
  prepMs: 1,
  readyWaitMs: 2,
  deviceMs: 3,
  batchSize: 1,
  batchId: 'batch-1',
  shareMs: 0,
};
const CHUNK = Buffer.alloc(65_536, 1);

/**
 * A real gRPC worker that computes nothing: it speaks the protos and does what each
 * request's script says. Emits `received` and `cancelled` with the request id, so that
 * tests wait for facts.
 */
export class FixtureWorker extends EventEmitter {
  readonly received: string[] = [];
  readonly cancelled: string[] = [];
  health: WorkerHealthReport;
  serving = true;
  /** While set, every request is refused with it, though the worker is healthy. */
  refusal: DomainError | undefined;
  /** While set, Cancel is not answered at all. */
  ignoreCancel = false;
  /** Answer to Progress; undefined: a worker of an earlier release, without the method. */
  progress: ProgressResponse | undefined;
  /** Attempts that Cancel named, in order. */
  readonly attempts: string[] = [];
  /** While set, its own Health is not answered, as by a process that is stopped. */
  mute = false;
  /**
   * False: without `grpc.health.v1`, as a worker whose author did not know of
   * it. Before `start()`.
   */
  standardHealth = true;
  /** The most speech chunks written and not yet taken by gRPC. */
  chunksWritten = 0;
  #server: Server | undefined;
  readonly #held = new Map<string, { release: () => void; cancel: () => void }>();

  constructor(
    report: Partial<WorkerHealthReport> = {},
    private readonly maxMessageBytes = 48 * 1024 * 1024,
  ) {
    super();
    this.health = { ...DEFAULT_HEALTH, maxMessageBytes, ...report };
  }

  /** Resolves with the port. */
  async start(port = 0, host = '127.0.0.1'): Promise<number> {
    const server = new Server({
      'grpc.max_receive_message_length': this.maxMessageBytes,
      'grpc.max_send_message_length': this.maxMessageBytes,
    });
    server.addService(speechToTextDefinition, this.#speechToText());
    server.addService(textToSpeechDefinition, this.#textToSpeech());
    const health: HealthServer = {
      check: (_, answer) => answer(null, { status: this.serving ? SERVING : NOT_SERVING }),
      watch: call => call.end(),
    };
    if (this.standardHealth) server.addService(healthDefinition, health);
    this.#server = server;
    leftover(() => this.stop());
    return new Promise((resolve, reject) => {
      server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
  }

  /** Tears every connection down, as a dying process does. */
  stop(): void {
    this.#server?.forceShutdown();
  }

  /** @param id the caller's, or the whole key where several tenants use one id */
  release(id: string): void {
    for (const [key, { release }] of this.#held) if (key === id || callersId(key) === id) release();
  }

  releaseAll(): void {
    for (const { release } of this.#held.values()) release();
  }

  get holding(): string[] {
    return [...this.#held.keys()].map(callersId);
  }

  /** Resolves once `count` requests have arrived in all. */
  async arrivals(count: number): Promise<void> {
    while (this.received.length < count) await once(this, 'received');
  }

  #speechToText(): SpeechToTextServer {
    return {
      transcribeFile: (call, answer) => {
        const request = decodeTranscribeCall(call.request);
        this.#perform(request.requestId, request.prompt).then(
          () => answer(null, encodeTranscript(transcriptOf(request), EXECUTION)),
          (error: unknown) => answer(encodeFailure(error)),
        );
      },
      transcribeUpload: call => void this.#takeUpload(call),
      transcribeStream: call => call.end(),
      ...this.#control(),
    };
  }

  #textToSpeech(): TextToSpeechServer {
    return {
      synthesize: call => void this.#speak(call),
      ...this.#control(),
    };
  }

  #control(): Pick<SpeechToTextServer, 'cancel' | 'health' | 'progress'> {
    return {
      progress: (_, answer) =>
        this.progress
          ? answer(null, this.progress)
          : answer({ code: status.UNIMPLEMENTED, details: 'no such method' }),
      cancel: ({ request: { requestId, attempt } }, answer) => {
        this.attempts.push(attempt);
        this.cancelled.push(callersId(requestId));
        this.emit('cancelled', callersId(requestId));
        if (this.ignoreCancel) return;
        const held = this.#held.get(requestId);
        held?.cancel();
        answer(null, { acknowledged: held !== undefined });
      },
      health: (_, answer) => {
        if (!this.mute) answer(null, encodeHealth({ ...this.health, inFlight: this.#held.size }));
      },
    };
  }

  /**
   * As a file, but each segment is told before the whole, and again by a worker
   * that begins anew.
   */
  async #takeUpload(
    call: ServerDuplexStream<TranscribeUploadRequest, TranscribeUploadResponse>,
  ): Promise<void> {
    const sent: TranscribeUploadRequest['message'][] = [];
    try {
      for await (const { message } of call as AsyncIterable<TranscribeUploadRequest>)
        sent.push(message);
      const [start, ...pieces] = sent;
      if (start?.$case !== 'start') throw new DomainError('invalid_value', 'no start');
      const audio = Buffer.concat(
        pieces.flatMap(piece => (piece?.$case === 'audio' ? [piece.value] : [])),
      );
      const request = decodeTranscribeCall({
        ...start.value,
        ...(start.value.audioUrl === '' && { audio }),
      });
      const transcript = transcriptOf(request);
      for (const segment of transcript.segments) {
        const words = transcript.words.filter(({ start: at }) => at === segment.start);
        call.write(encodeFinalSegment({ segment, words, logprobs: [] }));
      }
      await this.#perform(request.requestId, request.prompt);
      call.write(encodeUploadDone(transcript, EXECUTION));
      call.end();
    } catch (error) {
      call.emit('error', encodeFailure(error));
    }
  }

  async #speak(call: ServerWritableStream<SynthesizeRequest, SynthesizeResponse>): Promise<void> {
    const { requestId, text } = call.request;
    try {
      call.write({
        message: {
          $case: 'header',
          value: { contentType: 'audio/wav', sampleRate: 24_000 },
        },
      });
      const chunks = text.startsWith('chunks:') ? Number(text.slice(7)) : 1;
      for (let written = 0; written < chunks; written += 1) {
        this.chunksWritten = written + 1;
        if (!call.write({ message: { $case: 'audio', value: CHUNK } })) await once(call, 'drain');
      }
      await this.#perform(requestId, text);
      call.write({
        message: { $case: 'done', value: { durationS: 1.5, lateS: 0, execution: EXECUTION } },
      });
      call.end();
    } catch (error) {
      call.emit('error', encodeFailure(error));
    }
  }

  async #perform(requestId: string, text: string): Promise<void> {
    const [verb, argument = ''] = text.split(':');
    this.received.push(callersId(requestId));
    if (this.refusal) throw this.refusal;
    const held =
      verb === 'hold' || verb === 'deaf' || verb === 'sayAndHold'
        ? this.#hold(requestId, verb === 'deaf')
        : undefined;
    this.emit('received', callersId(requestId));
    await held;
    for (let line = 0; verb === 'flood' && line < Number(argument); line += 1) {
      if (!process.stderr.write(`native library says ${line}\n`))
        await once(process.stderr, 'drain');
    }
    // What is still buffered here would die with a kill -9: the answer means that all
    // lines are in the pipe.
    if (verb === 'flood') await new Promise(written => process.stderr.write('', written));
    if (verb === 'fail' && isErrorCode(argument))
      throw new DomainError(argument, 'as the script says', { param: 'x' });
  }

  #hold(requestId: string, deaf: boolean): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const cancel = () => reject(new DomainError('request_cancelled', 'stopped at a checkpoint'));
      this.#held.set(requestId, {
        release: resolve,
        cancel: deaf ? () => undefined : cancel,
      });
    }).finally(() => this.#held.delete(requestId));
  }
}

const transcriptOf = (request: TranscribeCallFields) => {
  const said = /^say(?:AndHold)?:(.*)$/s.exec(request.prompt)?.[1]?.split('|');
  return {
    text: said?.join(' ') ?? `${sizeOf(request)} of ${request.filename}`,
    language: request.language,
    durationS: 1,
    segments: (said ?? []).map(segmentOf),
    words: (said ?? []).flatMap((text, at) =>
      text.split(' ').map(word => ({ word, start: at, end: at + 1, confidence: 1 })),
    ),
  };
};

const sizeOf = ({ audio }: TranscribeCallFields): string =>
  Buffer.isBuffer(audio) ? `${audio.length} bytes` : audio.url;

const segmentOf = (text: string, id: number) => ({
  ...{ id, start: id, end: id + 1, text, tokens: [], temperature: 0, avgLogprob: 0 },
  noSpeechProb: 0,
});

const DEFAULT_HEALTH: WorkerHealthReport = {
  state: 'ready',
  model: 'm',
  engine: 'fixture',
  device: 'cpu',
  revision: '1',
  kind: 'stt',
  maxBatch: 4,
  maxConcurrent: 1,
  streams: 0,
  capabilities: ['transcribe'],
  languages: [],
  inFlight: 0,
  maxMessageBytes: 0,
};

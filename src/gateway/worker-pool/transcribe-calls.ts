import { type ClientDuplexStream, type ClientUnaryCall } from '@grpc/grpc-js';
import { type TokenLogprob, type TranscriptSegment } from '../../contracts/formats/transcript.js';
import {
  type CallAudio,
  decodeTranscript,
  decodeUploadAnswer,
  encodeTranscribeCall,
  encodeUploadChunk,
  encodeUploadStart,
  type TranscribeAnswer,
  type TranscribeFileResponse,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '../../contracts/grpc/stt.codec.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { maxWholeAudioBytes } from '../../platform/config/worker-spec.js';
import { type CallRequest, type StartedCall } from './worker-call.js';
import { type WorkerChannel } from './worker-channel.js';
import { type TranscribeTask, type WorkerReply } from './worker-task.js';

/** One `TranscribeFile` RPC: the upload is read, then sent, unless the caller went away in between. */
export class TranscribeCall implements StartedCall {
  readonly reply: Promise<WorkerReply>;
  readonly finished: Promise<void>;
  #call: ClientUnaryCall | undefined;
  #sent = false;
  #abandoned = false;

  /** @param channel called when the upload has been read: the connection may have been replaced meanwhile. */
  constructor(channel: () => WorkerChannel, call: CallRequest, task: TranscribeTask) {
    this.reply = this.#run(channel, call, task);
    this.finished = this.reply.then(
      () => undefined,
      () => undefined,
    );
  }

  get sent(): boolean {
    return this.#sent;
  }

  abandon(): void {
    this.#abandoned = true;
  }

  reset(): void {
    this.#abandoned = true;
    this.#call?.cancel();
  }

  async #run(channelNow: () => WorkerChannel, call: CallRequest, task: TranscribeTask): Promise<WorkerReply> {
    const audio = 'url' in task.audio ? task.audio : await task.audio.bytes();
    if (this.#abandoned) throw new DomainError('request_cancelled', 'Cancelled before the worker received it.');
    const message = transcribeMessage(call, task, audio);
    const channel = channelNow();
    demandFitting(audio, channel.maxMessageBytes);
    this.#sent = true;
    return decodeTranscript(
      await channel.unary<TranscribeFileResponse>(
        callback => (this.#call = channel.stt.transcribeFile(message, callback)),
      ),
    );
  }
}

/** gRPC rejects a larger message without a code that identifies the reason. */
function demandFitting(audio: CallAudio, maxMessageBytes: number): void {
  const limit = maxWholeAudioBytes(maxMessageBytes);
  if (!Buffer.isBuffer(audio) || audio.length <= limit) return;
  throw new DomainError(
    'file_too_large',
    `The audio has ${audio.length} bytes; at most ${limit} can be sent in one message.`,
  );
}

function transcribeMessage({ request, group }: CallRequest, task: TranscribeTask, audio: CallAudio) {
  return encodeTranscribeCall({ ...task, requestId: request.key, priority: request.priority, group, audio });
}

type Stream = ClientDuplexStream<TranscribeUploadRequest, TranscribeUploadResponse>;

/**
 * Longer audio than this is cut into windows by the worker, so that it neither fills its memory nor holds its device.
 */
const SHORT_S = 60;

/**
 * False for short audio that fits into one message: it is sent as `TranscribeFile`, without a file and a second copy.
 */
export function goesInPieces({ audio, durationS = 0, onSegment }: TranscribeTask, maxMessageBytes: number): boolean {
  if (onSegment !== undefined || 'url' in audio) return true;
  return audio.size > maxWholeAudioBytes(maxMessageBytes) || durationS > SHORT_S;
}

/**
 * One `TranscribeUpload` RPC: the upload goes to the worker piece by piece as it takes them, never whole through
 * memory; segments come back as they become final.
 */
export class UploadCall implements StartedCall {
  readonly reply: Promise<WorkerReply>;
  readonly finished: Promise<void>;
  readonly sent = true;
  readonly #ended = new AbortController();
  readonly #stream: Stream;
  #abandoned = false;

  constructor(channel: WorkerChannel, call: CallRequest, task: TranscribeTask) {
    const stream = channel.track(() => channel.stt.transcribeUpload());
    this.#stream = stream;
    // `status` is always emitted, once: the worker has ended the call.
    this.finished = new Promise(resolve => stream.once('status', () => resolve()));
    void this.finished.then(() => this.#ended.abort());
    this.reply = this.#run(stream, call, task);
  }

  /**
   * The rest of the upload is not sent. The worker receives the cancel by its own RPC; if that is lost, it sees a short
   * file.
   */
  abandon(): void {
    this.#abandoned = true;
  }

  reset(): void {
    this.#abandoned = true;
    this.#stream.cancel();
  }

  async #run(stream: Stream, call: CallRequest, task: TranscribeTask): Promise<WorkerReply> {
    const sending = this.#send(stream, call, task);
    // If the file cannot be read any more, the call ends; the worker's error only follows from that.
    sending.catch(() => stream.cancel());
    const answer = await this.#read(stream, task).catch(async (error: unknown) => {
      await sending;
      throw error;
    });
    if (answer) return answer;
    throw new DomainError('engine_failed', 'The worker ended the upload without an answer.');
  }

  async #send(stream: Stream, { request, group }: CallRequest, task: TranscribeTask): Promise<void> {
    const { audio, ...options } = task;
    const start = { ...options, requestId: request.key, priority: request.priority, group };
    await this.#write(stream, encodeUploadStart(start, 'url' in audio ? audio.url : undefined));
    if (!('url' in audio)) {
      for await (const piece of audio.chunks()) {
        if (this.#abandoned || this.#ended.signal.aborted) break;
        await this.#write(stream, encodeUploadChunk(piece));
      }
    }
    stream.end();
  }

  /** Resolves when HTTP/2 has accepted the message, so that only one is held, or when the call has ended. */
  #write(stream: Stream, message: TranscribeUploadRequest): Promise<void> {
    const { signal } = this.#ended;
    return new Promise(resolve => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      if (signal.aborted) return resolve();
      signal.addEventListener('abort', done);
      stream.write(message, done);
    });
  }

  /** Reads to the end, also after a cancel: stopping early would leave the call open. */
  async #read(stream: AsyncIterable<TranscribeUploadResponse>, task: TranscribeTask) {
    let done: TranscribeAnswer | undefined;
    for await (const message of stream) {
      const answer = decodeUploadAnswer(message);
      if (answer?.kind === 'transcript') done = answer;
      else if (answer && !this.#abandoned) this.#emit(task, answer);
    }
    return done;
  }

  #emit(
    task: TranscribeTask,
    { segment, logprobs }: { segment: TranscriptSegment; logprobs: readonly TokenLogprob[] },
  ) {
    task.onSegment?.(segment, logprobs);
  }
}

import { type ClientDuplexStream } from '@grpc/grpc-js';
import { type TokenLogprob, type TranscriptSegment } from '../../contracts/formats/transcript.js';
import {
  decodeUploadAnswer,
  encodeUploadChunk,
  encodeUploadStart,
  type TranscribeAnswer,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '../../contracts/grpc/stt.codec.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { maxWholeAudioBytes } from '../../platform/config/worker-spec.js';
import { type CallRequest, type StartedCall } from './worker-call.js';
import { type WorkerChannel } from './worker-channel.js';
import { type TranscribeTask, type WorkerReply } from './worker-task.js';

type Stream = ClientDuplexStream<TranscribeUploadRequest, TranscribeUploadResponse>;

/** Longer audio than this is cut into windows by the worker, so that it neither fills its memory nor holds its device. */
const SHORT_S = 60;

/** Short audio that fits into one message goes whole, as `TranscribeFile`: no file, no second copy. All else by this call. */
export function goesInPieces({ audio, durationS = 0, onSegment }: TranscribeTask, maxMessageBytes: number): boolean {
  if (onSegment !== undefined || 'url' in audio) return true;
  return audio.size > maxWholeAudioBytes(maxMessageBytes) || durationS > SHORT_S;
}

/**
 * One `TranscribeUpload` RPC: the upload goes to the worker piece by piece as it takes them, never whole through memory; segments come
 * back as they become final.
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
    // `status` comes once and always: the worker has let go.
    this.finished = new Promise(resolve => stream.once('status', () => resolve()));
    void this.finished.then(() => this.#ended.abort());
    this.reply = this.#run(stream, call, task);
  }

  /** The rest of the upload is not sent: the worker hears of the cancel by its own RPC, and of a short file if that is lost. */
  abandon(): void {
    this.#abandoned = true;
  }

  reset(): void {
    this.#abandoned = true;
    this.#stream.cancel();
  }

  async #run(stream: Stream, call: CallRequest, task: TranscribeTask): Promise<WorkerReply> {
    const sending = this.#send(stream, call, task);
    // A file that cannot be read any more ends the call; what the worker says of it is no news then.
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

  /** Resolves when HTTP/2 has taken the message, so that one is held and no more, or the call has ended: nobody takes any then. */
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

  /** Reads to the end, also for nobody: leaving early would leave the call open. */
  async #read(stream: AsyncIterable<TranscribeUploadResponse>, task: TranscribeTask) {
    let done: TranscribeAnswer | undefined;
    for await (const message of stream) {
      const answer = decodeUploadAnswer(message);
      if (answer?.kind === 'transcript') done = answer;
      else if (answer && !this.#abandoned) this.#tell(task, answer);
    }
    return done;
  }

  #tell(
    task: TranscribeTask,
    { segment, logprobs }: { segment: TranscriptSegment; logprobs: readonly TokenLogprob[] },
  ) {
    task.onSegment?.(segment, logprobs);
  }
}

import { type ClientDuplexStream } from '@grpc/grpc-js';
import { traceMetadata } from '../../contracts/grpc/call.codec.js';
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
import { DomainError } from '../../core/errors/domain-error.js';
import { maxWholeAudioBytes } from '../../platform/config/worker-spec.js';
import { type CallProgress, type CallRequest } from './worker-call.js';
import { type WorkerChannel } from '../../platform/grpc/worker-channel.js';
import { type TranscribeTask, type WorkerReply } from './worker-task.js';

/**
 * One `TranscribeFile` RPC: the upload is read, then sent, unless the caller went
 * away in between.
 */
export async function transcribe(
  call: CallProgress,
  /**
   * Called when the upload has been read: the connection may have
   * been replaced meanwhile.
   */
  currentChannel: () => WorkerChannel,
  { request, group }: CallRequest,
  task: TranscribeTask,
): Promise<WorkerReply> {
  const audio = 'url' in task.audio ? task.audio : await task.audio.bytes();
  if (call.abandoned)
    throw new DomainError(
      'request_cancelled',
      'Cancelled before the worker received it.',
    );
  const channel = currentChannel();
  demandFitting(audio, channel.maxMessageBytes);
  const { key: requestId, priority } = request;
  const message = encodeTranscribeCall({ ...task, requestId, priority, group, audio });
  return decodeTranscript(
    await channel.unary<TranscribeFileResponse>(
      done => channel.stt.transcribeFile(message, traceMetadata(request), done),
      call,
    ),
  );
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

/**
 * Longer audio than this is cut into windows by the worker, so that it neither fills its
 * memory nor holds its device.
 */
const SHORT_S = 60;

/**
 * False for short audio that fits into one message: it is sent as `TranscribeFile`,
 * without a file and a second copy.
 */
export function goesInPieces(
  { audio, durationS = 0, onSegment }: TranscribeTask,
  maxMessageBytes: number,
): boolean {
  if (onSegment !== undefined || 'url' in audio) return true;
  return audio.size > maxWholeAudioBytes(maxMessageBytes) || durationS > SHORT_S;
}

/**
 * One `TranscribeUpload` RPC: the upload goes to the worker piece by piece as it takes
 * them, never whole through memory; segments come back as they become final. The rest of
 * an abandoned upload is not sent: the worker receives the cancel by its own RPC; if that
 * is lost, it sees a short file.
 */
export async function transcribeUpload(
  call: CallProgress,
  channel: WorkerChannel,
  request: CallRequest,
  task: TranscribeTask,
): Promise<WorkerReply> {
  const stream = channel.track(
    () => channel.stt.transcribeUpload(traceMetadata(request.request)),
    call,
  );
  const sending = sendUpload(call, stream, request, task);
  // If the file cannot be read any more, the call ends; the worker's error only
  // follows from that.
  sending.catch(() => stream.cancel());
  let done: TranscribeAnswer | undefined;
  try {
    // Read to the end, also after a cancel: stopping early would leave the call open.
    for await (const message of stream as AsyncIterable<TranscribeUploadResponse>) {
      const answer = decodeUploadAnswer(message);
      if (answer?.kind === 'transcript') done = answer;
      else if (answer && !call.abandoned)
        task.onSegment?.(answer.segment, answer.logprobs);
    }
  } catch (error) {
    await sending;
    throw error;
  }
  if (done) return done;
  throw new DomainError(
    'engine_failed',
    'The worker ended the upload without an answer.',
  );
}

async function sendUpload(
  call: CallProgress,
  stream: ClientDuplexStream<TranscribeUploadRequest, TranscribeUploadResponse>,
  { request, group }: CallRequest,
  { audio, ...options }: TranscribeTask,
): Promise<void> {
  let resume = (): void => undefined;
  void call.finished.then(() => resume());
  /**
   * Resolves when HTTP/2 has accepted the message, so that only one is held, or when the
   * call has ended.
   */
  const write = (message: TranscribeUploadRequest): Promise<void> =>
    new Promise(resolve => {
      resume = resolve;
      if (call.hasEnded) resolve();
      else stream.write(message, () => resolve());
    });
  const start = { ...options, requestId: request.key, priority: request.priority, group };
  await write(encodeUploadStart(start, 'url' in audio ? audio.url : undefined));
  if (!('url' in audio)) {
    for await (const piece of audio.chunks()) {
      if (call.abandoned || call.hasEnded) break;
      await write(encodeUploadChunk(piece));
    }
  }
  stream.end();
}

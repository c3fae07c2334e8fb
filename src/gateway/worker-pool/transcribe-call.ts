import { type ClientUnaryCall } from '@grpc/grpc-js';
import {
  type CallAudio,
  decodeTranscript,
  encodeTranscribeCall,
  type TranscribeFileResponse,
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

  /** @param channel asked when the upload has been read: the connection may have been replaced meanwhile. */
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

/** A larger message would be refused below, without saying why in a way that can be told apart. */
function demandFitting(audio: CallAudio, maxMessageBytes: number): void {
  const limit = maxWholeAudioBytes(maxMessageBytes);
  if (!Buffer.isBuffer(audio) || audio.length <= limit) return;
  throw new DomainError('file_too_large', `The audio has ${audio.length} bytes; at most ${limit} are sent as a whole.`);
}

function transcribeMessage({ request, group }: CallRequest, task: TranscribeTask, audio: CallAudio) {
  return encodeTranscribeCall({ ...task, requestId: request.key, priority: request.priority, group, audio });
}

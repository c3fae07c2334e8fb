import { credentials } from '@grpc/grpc-js';
import { PLAIN_TRANSCRIPTION } from '@switchyard/engine-api/speech-recognizer.js';
import {
  decodeTranscript,
  encodeTranscribeCall,
  SpeechToTextStub,
  type SpeechToTextClient,
  type TranscribeAnswer,
} from '@switchyard/worker-protocol/stt.codec.js';
import { RequestPriority } from '../../../src/core/request/request-priority.js';

const MAX_MESSAGE_BYTES = 27_262_976;

/**
 * `TranscribeFile` on a worker with nothing in between: the baseline that the scheduler's
 * cost is measured against.
 */
export class WorkerClient implements Disposable {
  readonly #stub: SpeechToTextClient;
  #calls = 0;

  constructor(address: string) {
    this.#stub = new SpeechToTextStub(address, credentials.createInsecure(), {
      'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
      'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
    });
  }

  /**
   * Calls that the worker computes together, sent as the gateway sends a group. Resolves
   * with the last answer.
   */
  transcribeGroup(audio: Buffer, size: number): Promise<TranscribeAnswer[]> {
    const group = { id: `direct-group-${++this.#calls}`, size };
    return Promise.all(
      Array.from({ length: size }, () =>
        this.transcribe(audio, 'group.wav', RequestPriority.BATCH, group),
      ),
    );
  }

  /** Unless told otherwise, each call is a group of its own, as a lone caller's is. */
  transcribe(
    audio: Buffer,
    filename: string,
    priority: RequestPriority,
    group?: { readonly id: string; readonly size: number },
  ): Promise<TranscribeAnswer> {
    const id = `direct-${process.pid}-${++this.#calls}`;
    const request = encodeTranscribeCall({
      requestId: id,
      priority,
      group: group ?? { id, size: 1 },
      ...PLAIN_TRANSCRIPTION,
      audio,
      filename,
    });
    return new Promise((resolve, reject) => {
      this.#stub.transcribeFile(request, (error, reply) =>
        error ? reject(error) : resolve(decodeTranscript(reply)),
      );
    });
  }

  [Symbol.dispose](): void {
    this.#stub.close();
  }
}

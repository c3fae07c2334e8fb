import { type ServerDuplexStream } from '@grpc/grpc-js';
import { Inject, Injectable } from '@nestjs/common';
import {
  decodeTranscribeCall,
  encodeFinalSegment,
  encodeUploadDone,
  type TranscribeCallFields,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '../../contracts/grpc/stt.codec.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { aboutUrl, AudioDownload } from '../audio/audio-download.js';
import { ReceivedFile } from '../audio/received-file.js';
import { LongTranscriptionService } from '../execution/long-transcription.service.js';
import { type SegmentSink } from '../execution/transcript-stitcher.js';
import { CallConversation } from './call-conversation.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';

type UploadCall = ServerDuplexStream<TranscribeUploadRequest, TranscribeUploadResponse>;
type Conversation = CallConversation<TranscribeUploadRequest, TranscribeUploadResponse>;

/**
 * `TranscribeUpload`: start, then the file in pieces → segments as they become final,
 * then the whole.
 */
@Injectable()
export class UploadService {
  constructor(
    private readonly calls: InFlightCalls,
    private readonly long: LongTranscriptionService,
    private readonly downloads: AudioDownload,
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
  ) {}

  /**
   * Resolves when the whole answer is sent. @throws DomainError or the abort's error; the
   * file is deleted by then
   */
  async serve(call: UploadCall): Promise<void> {
    const conversation = new CallConversation<
      TranscribeUploadRequest,
      TranscribeUploadResponse
    >(call);
    const first = await conversation.next();
    if (first?.message?.$case !== 'start')
      throw invalid('The first message of an upload is its start.', 'start');
    const start = decodeTranscribeCall(first.message.value);
    if (first.message.value.audio.length > 0)
      throw invalid('The audio of an upload follows its start.', 'audio');
    await this.calls.run(start.requestId, call, signal =>
      this.#run(start, conversation.until(signal), signal),
    );
  }

  async #run(
    start: TranscribeCallFields,
    conversation: Conversation,
    signal: AbortSignal,
  ): Promise<void> {
    await using file = await ReceivedFile.open({ maxBytes: this.spec.uploadLimitBytes });
    const byUrl = !Buffer.isBuffer(start.audio);
    for await (const piece of this.#pieces(start, conversation, signal))
      await file.append(piece);
    const answers = new Answers(conversation);
    const { transcript, execution } = await this.long
      .transcribe(start, file, { signal, sink: answers.segment })
      .catch((error: unknown) => {
        throw byUrl ? aboutUrl(error) : error;
      });
    await answers.sent();
    await conversation.send(encodeUploadDone(transcript, execution));
  }

  #pieces(
    { audio }: TranscribeCallFields,
    conversation: Conversation,
    signal: AbortSignal,
  ): AsyncGenerator<Buffer> {
    return Buffer.isBuffer(audio)
      ? pieces(conversation)
      : this.downloads.pieces(audio.url, signal);
  }
}

/** Read at the pace of the file's writes: HTTP/2 throttles the sender meanwhile. */
async function* pieces(conversation: Conversation): AsyncGenerator<Buffer> {
  for (
    let request = await conversation.next();
    request;
    request = await conversation.next()
  ) {
    if (request.message?.$case !== 'audio')
      throw invalid('After its start an upload takes audio only.', 'audio');
    yield request.message.value;
  }
}

/** Sends segments to the caller in order; a slow reader delays only itself. */
class Answers {
  #sent: Promise<void> = Promise.resolve();

  constructor(private readonly conversation: Conversation) {}

  readonly segment: SegmentSink = (segment, words, logprobs) => {
    const message = encodeFinalSegment({ segment, words, logprobs });
    this.#sent = this.#sent.then(() => this.conversation.send(message));
    this.#sent.catch(() => undefined);
  };

  /** @throws the abort's error. */
  sent(): Promise<void> {
    return this.#sent;
  }
}

const invalid = (message: string, param: string): DomainError =>
  new DomainError('invalid_value', message, { param });

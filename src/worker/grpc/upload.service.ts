import { Injectable } from '@nestjs/common';
import {
  encodeFinalSegment,
  encodeUploadDone,
  type TranscribeCallFields,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '../../contracts/grpc/stt.codec.js';
import { invalidField } from '../../contracts/schema/field-problems.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { aboutUrl, AudioDownload } from '../audio/audio-download.js';
import { ReceivedFile } from '../audio/received-file.js';
import { LongTranscriptionService } from '../execution/long-transcription.service.js';
import { type SegmentSink } from '../execution/transcript-stitcher.js';
import { WorkLine } from '../audio/work-line.js';
import { type CallConversation } from './call-conversation.js';

/**
 * `TranscribeUpload`: after its start the file in pieces → segments as they become final,
 * then the whole.
 */
@Injectable()
export class UploadService {
  constructor(
    private readonly long: LongTranscriptionService,
    private readonly downloads: AudioDownload,
    private readonly spec: WorkerSpec,
  ) {}

  /**
   * Resolves when the whole answer is sent. @throws DomainError or the abort's error; the
   * file is deleted by then
   */
  async serve(
    start: TranscribeCallFields,
    conversation: CallConversation<TranscribeUploadRequest, TranscribeUploadResponse>,
    signal: AbortSignal,
  ): Promise<void> {
    await using file = await ReceivedFile.open(this.spec.uploadLimitBytes);
    const { audio } = start;
    const byUrl = !Buffer.isBuffer(audio);
    const pieces = byUrl
      ? this.downloads.pieces(audio.url, signal)
      : uploaded(conversation.rest());
    for await (const piece of pieces) await file.append(piece);
    // In order; a slow reader delays only itself.
    const sent = new WorkLine();
    const sink: SegmentSink = (segment, words, logprobs) => {
      const message = encodeFinalSegment({ segment, words, logprobs });
      sent.add(() => conversation.send(message));
    };
    const { transcript, execution } = await this.long
      .transcribe(start, file, signal, sink)
      .catch((error: unknown) => {
        throw byUrl ? aboutUrl(error) : error;
      });
    await sent.done();
    await conversation.send(encodeUploadDone(transcript, execution));
  }
}

/** Read at the pace of the file's writes: HTTP/2 throttles the sender meanwhile. */
async function* uploaded(
  messages: AsyncIterable<TranscribeUploadRequest>,
): AsyncGenerator<Buffer> {
  for await (const { message } of messages) {
    if (message?.$case !== 'audio')
      throw invalidField('audio', 'After its start an upload takes audio only.');
    yield message.value;
  }
}

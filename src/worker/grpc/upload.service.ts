import { Injectable } from '@nestjs/common';
import { invalidField } from '@switchyard/engine-api/field-problems.js';
import {
  encodeFinalSegment,
  encodeUploadDone,
  type TranscribeCallFields,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '@switchyard/worker-protocol/stt.codec.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { AudioDownload } from '../audio/audio-download.js';
import { ReceivedFile } from '../audio/received-file.js';
import { WorkLine } from '../audio/work-line.js';
import { LongTranscriptionService } from '../execution/long-transcription.service.js';
import { type SegmentSink } from '../execution/transcript-stitcher.js';
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
    const { audio } = start;
    const pieces = Buffer.isBuffer(audio)
      ? uploaded(conversation.rest())
      : this.downloads.pieces(audio.url, signal);
    await using file = await ReceivedFile.of(pieces, this.spec.uploadLimitBytes);
    // In order; a slow reader delays only itself.
    const sent = new WorkLine();
    const sink: SegmentSink = (segment, words, logprobs) => {
      const message = encodeFinalSegment({ segment, words, logprobs });
      sent.add(() => conversation.send(message));
    };
    const answer = await this.long.transcribe(start, file, signal, sink);
    await sent.done();
    await conversation.send(encodeUploadDone(answer.transcript, answer.execution));
  }
}

/** Read at the pace of the file's writes: HTTP/2 throttles the sender meanwhile. */
async function* uploaded(messages: AsyncIterable<TranscribeUploadRequest>): AsyncGenerator<Buffer> {
  for await (const { message } of messages) {
    if (message?.$case !== 'audio')
      throw invalidField('audio', 'After its start an upload takes audio only.');
    yield message.value;
  }
}

import { type PlaneSpeech } from '../../contracts/plane/plane-result.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { SinkWriter } from '../worker-pool/sink-writer.js';
import { type SpeechSink } from '../worker-pool/worker-task.js';

/**
 * Speech that a worker left in the blob store goes to its listener, at the listener's pace.
 * @throws DomainError `request_cancelled` when the listener went away; what reading throws, before or amid the audio.
 */
export async function sayStored(
  { contentType, sampleRate }: PlaneSpeech,
  sink: SpeechSink,
  audio: AsyncIterable<Uint8Array>,
): Promise<void> {
  const writer = new SinkWriter(sink.audio);
  let succeeded = false;
  try {
    sink.header({ contentType, sampleRate });
    for await (const chunk of audio) {
      await writer.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      if (writer.gone) throw new DomainError('request_cancelled', 'The listener went away.');
    }
    succeeded = true;
  } finally {
    writer.finish(succeeded);
  }
}

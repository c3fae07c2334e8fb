import {
  decodeExecution,
  corrected,
  traceMetadata,
} from '../../contracts/grpc/call.codec.js';
import {
  encodeSynthesizeCall,
  type SpeechMessage,
  type SynthesizeResponse,
} from '../../contracts/grpc/tts.codec.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type CallProgress, type CallRequest } from './worker-call.js';
import { type WorkerChannel } from '../../platform/grpc/worker-channel.js';
import { type SynthesizeTask, type WorkerReply } from './worker-task.js';

/**
 * One `Synthesize` RPC: audio flows from the worker into the task's sink
 * with back pressure.
 */
export async function synthesize(
  call: CallProgress,
  channel: WorkerChannel,
  { request, group }: CallRequest,
  task: SynthesizeTask,
): Promise<WorkerReply> {
  const { sink, ...params } = task;
  const { key: requestId, priority } = request;
  const message = encodeSynthesizeCall({ ...params, requestId, priority, group });
  const metadata = traceMetadata(request);
  const stream = channel.track(() => channel.tts.synthesize(message, metadata), call);
  const writer = call.writeTo(sink.audio);
  let done: Extract<SpeechMessage, { $case: 'done' }>['value'] | undefined;
  let succeeded = false;
  const receive = async (part: SpeechMessage): Promise<void> => {
    if (part.$case === 'audio') await writer.write(part.value);
    else if (part.$case === 'done') done = corrected(part.value);
    else if (!writer.gone) sink.header(part.value);
  };
  let sinkError: unknown;
  try {
    // Read to the end even when the sink has closed: stopping early would leave
    // the call open.
    for await (const { message: part } of stream as AsyncIterable<SynthesizeResponse>)
      if (part)
        await receive(part).catch((error: unknown) => {
          sinkError = error;
          writer.abandon();
        });
    if (sinkError !== undefined) throw sinkError as Error;
    if (writer.gone)
      throw new DomainError('request_cancelled', 'The caller disconnected.');
    if (!done) throw new DomainError('engine_failed', UNFINISHED);
    succeeded = true;
    const execution = decodeExecution(done.execution);
    return { kind: 'speech', durationS: done.durationS, execution };
  } finally {
    writer.finish(succeeded);
  }
}

const UNFINISHED = 'The worker ended the audio without reporting it as complete.';

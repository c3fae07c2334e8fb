import { type ClientDuplexStream } from '@grpc/grpc-js';
import {
  audioMessage,
  corrected,
  decodeExecution,
  traceMetadata,
} from '@switchyard/worker-protocol/call.codec.js';
import {
  decodeEmbedded,
  type EmbedResponse,
  encodeEmbedCall,
  encodeGenerateCall,
  type GenerateCallFields,
  type GenerateResponse,
  type GenerationMessage,
} from '@switchyard/worker-protocol/generation.codec.js';
import { maxWholeAudioBytes } from '@switchyard/worker-protocol/message-size.js';
import {
  decodeTranscript,
  decodeUploadAnswer,
  encodeTranscribeCall,
  encodeUploadStart,
  type TranscribeAnswer,
  type TranscribeFileResponse,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from '@switchyard/worker-protocol/stt.codec.js';
import {
  encodeSynthesizeCall,
  type SpeechMessage,
  type SynthesizeResponse,
} from '@switchyard/worker-protocol/tts.codec.js';
import { type WorkerChannel } from '@switchyard/worker-protocol/worker-channel.js';
import { DomainError } from '../core/errors/domain-error.js';
import { type InProcessWorker } from './in-process-worker.js';
import { type CallProgress, type CallRequest, wentAway } from './worker-call.js';
import {
  type EmbedTask,
  type GenerateTask,
  type WorkerReply,
  type SynthesizeTask,
  type TranscribeTask,
} from './worker-task.js';

/** Fields that every call has of its request; messages without a tenant leave it out. */
const identityOf = ({ request, group }: CallRequest) => ({
  requestId: request.key,
  priority: request.priority,
  tenant: request.tenant ?? '',
  group,
});

/**
 * Longer audio than this is cut into windows by the worker, so that it neither fills its
 * memory nor holds its device.
 */
const SHORT_S = 60;

/**
 * Short audio that fits into one message is sent by one `TranscribeFile` RPC, without a
 * file and a second copy: it is read, then sent unless the caller went away in between.
 */
async function transcribe(
  call: CallProgress,
  currentChannel: () => WorkerChannel,
  request: CallRequest,
  task: TranscribeTask,
): Promise<WorkerReply> {
  const { audio: source, durationS = 0, onSegment } = task;
  const most = maxWholeAudioBytes(currentChannel().maxMessageBytes);
  const isWhole = onSegment === undefined && durationS <= SHORT_S;
  if ('url' in source || !isWhole || source.size > most)
    return transcribeUpload(call, currentChannel(), request, task);
  const audio = await source.bytes();
  if (call.abandoned)
    throw new DomainError('request_cancelled', 'Cancelled before the worker received it.');
  // gRPC rejects a larger message without a code that identifies the reason.
  if (audio.length > most)
    throw new DomainError(
      'file_too_large',
      `The audio has ${audio.length} bytes; at most ${most} can be sent in one message.`,
    );
  const channel = currentChannel();
  const message = encodeTranscribeCall({ ...task, ...identityOf(request), audio });
  return decodeTranscript(
    await channel.unary<TranscribeFileResponse>(
      done => channel.stt.transcribeFile(message, traceMetadata(request.request), done),
      call,
    ),
  );
}

/**
 * One `TranscribeUpload` RPC: the upload goes to the worker piece by piece as it takes
 * them, never whole through memory; segments come back as they become final. The rest of
 * an abandoned upload is not sent: the worker receives the cancel by its own RPC; if that
 * is lost, it sees a short file.
 */
async function transcribeUpload(
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
      else if (answer && !call.abandoned) task.onSegment?.(answer.segment, answer.logprobs);
    }
  } catch (error) {
    await sending;
    throw error;
  }
  if (done) return done;
  throw new DomainError('engine_failed', 'The worker ended the upload without an answer.');
}

async function sendUpload(
  call: CallProgress,
  stream: ClientDuplexStream<TranscribeUploadRequest, TranscribeUploadResponse>,
  request: CallRequest,
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
  const start = { ...options, ...identityOf(request) };
  await write(encodeUploadStart(start, 'url' in audio ? audio.url : undefined));
  if (!('url' in audio)) {
    for await (const piece of audio.chunks()) {
      if (call.abandoned || call.hasEnded) break;
      await write(audioMessage(piece));
    }
  }
  stream.end();
}

/**
 * One `Synthesize` RPC: audio flows from the worker into the task's sink
 * with back pressure.
 */
async function synthesize(
  call: CallProgress,
  channel: WorkerChannel,
  request: CallRequest,
  task: SynthesizeTask,
): Promise<WorkerReply> {
  const { sink, ...params } = task;
  const message = encodeSynthesizeCall({ ...params, ...identityOf(request) });
  const metadata = traceMetadata(request.request);
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
    if (writer.gone) throw new DomainError('request_cancelled', 'The caller disconnected.');
    if (!done) throw new DomainError('engine_failed', UNFINISHED);
    succeeded = true;
    const { durationS, lateS } = done;
    return { kind: 'speech', durationS, lateS, execution: decodeExecution(done.execution) };
  } finally {
    writer.finish(succeeded);
  }
}

const UNFINISHED = 'The worker ended the audio without reporting it as complete.';

/** One `Embed` RPC. */
async function embed(
  call: CallProgress,
  channel: WorkerChannel,
  request: CallRequest,
  { kind: _kind, ...task }: EmbedTask,
): Promise<WorkerReply> {
  const message = encodeEmbedCall({ ...task, ...identityOf(request) });
  const answer = await channel.unary<EmbedResponse>(
    done => channel.text.embed(message, done),
    call,
  );
  return { kind: 'embeddings', ...decodeEmbedded(answer) };
}

const generateFields = (
  request: CallRequest,
  { form, body, maxTokens, n, sink }: GenerateTask,
): GenerateCallFields => ({
  ...identityOf(request),
  tenantWeight: request.tenantWeight ?? 1,
  traceparent: request.request.traceparent,
  form,
  body,
  maxTokens,
  n,
  stream: sink !== undefined,
});

/** One `Generate` RPC. */
function generate(
  call: CallProgress,
  channel: WorkerChannel,
  request: CallRequest,
  task: GenerateTask,
): Promise<WorkerReply> {
  const message = encodeGenerateCall(generateFields(request, task));
  const stream = channel.track(() => channel.text.generate(message), call);
  return receiveText(call, task.sink, async take => {
    // Read to the end even when the sink has closed: stopping early would leave
    // the call open.
    for await (const { message } of stream as AsyncIterable<GenerateResponse>)
      if (message) await take(message);
  });
}

/**
 * The RPC of a request.
 * @param channel asked again when audio has been read: the connection may have been
 *   replaced meanwhile
 */
export function performRemotely(
  call: CallProgress,
  request: CallRequest,
  channel: () => WorkerChannel,
): Promise<WorkerReply> {
  const { payload } = request.request;
  switch (payload.kind) {
    case 'transcribe':
      return transcribe(call, channel, request, payload);
    case 'synthesize':
      return synthesize(call, channel(), request, payload);
    case 'generate':
      return generate(call, channel(), request, payload);
    case 'embed':
      return embed(call, channel(), request, payload);
  }
}

/** One generation of a worker in this process. */
export function generateInside(
  call: CallProgress,
  worker: InProcessWorker,
  request: CallRequest,
): Promise<WorkerReply> {
  const { key, payload } = request.request;
  if (payload.kind !== 'generate') throw wentAway('in this process');
  call.began({ cancel: () => worker.cancel(key, '', call.attempt) });
  return receiveText(call, payload.sink, take =>
    worker.generate(generateFields(request, payload), take),
  );
}

const EMPTY = Buffer.alloc(0);

/**
 * Passes the text of one generation into the task's sink at its pace, or into the reply.
 * @param run gives all messages to its argument
 * @throws DomainError when the text is not complete or did not reach its reader;
 *   what `run` throws
 */
async function receiveText(
  call: CallProgress,
  sink: GenerateTask['sink'],
  run: (take: Parameters<InProcessWorker['generate']>[1]) => Promise<void>,
): Promise<WorkerReply> {
  const writer = sink && call.writeTo(sink.chunks);
  let begun = false;
  let answer: Buffer = EMPTY;
  let done: Extract<GenerationMessage, { $case: 'done' }>['value'] | undefined;
  const take = async ({ $case, value }: GenerationMessage): Promise<void> => {
    if ($case === 'done') done = corrected(value);
    else if (!writer) answer = value;
    else {
      if (!begun && !writer.gone) sink.begin?.();
      begun = true;
      await writer.write(value);
    }
  };
  let reply: WorkerReply | undefined;
  try {
    await run(take);
    if (writer?.gone) throw new DomainError('request_cancelled', 'The caller disconnected.');
    if (!writer && answer.length === 0) throw failed('The worker sent no answer.');
    if (!done) throw failed('The worker ended the text without reporting it as complete.');
    const execution = decodeExecution(done.execution);
    return (reply = { kind: 'generation', answer, ...done, execution });
  } finally {
    writer?.finish(reply !== undefined);
  }
}

const failed = (message: string): DomainError => new DomainError('engine_failed', message);

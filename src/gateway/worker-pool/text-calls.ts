import {
  decodeEmbedded,
  type EmbedResponse,
  encodeEmbedCall,
  encodeGenerateCall,
  type GenerateCallFields,
  type GenerateResponse,
  type GenerationMessage,
} from '../../contracts/grpc/generation.codec.js';
import { corrected, decodeExecution } from '../../contracts/grpc/call.codec.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type InProcessWorker, type MessageSink } from './in-process-worker.js';
import { type CallProgress, type CallRequest, wentAway } from './worker-call.js';
import { type WorkerChannel } from '../../platform/grpc/worker-channel.js';
import {
  type EmbedTask,
  type GenerateTask,
  type GenerationOutput,
  type WorkerReply,
} from './worker-task.js';

/** One `Embed` RPC. */
export async function embed(
  call: CallProgress,
  channel: WorkerChannel,
  { request, group }: CallRequest,
  task: EmbedTask,
): Promise<WorkerReply> {
  const { key: requestId, priority, tenant = '' } = request;
  const { form, body, inputs } = task;
  const message = encodeEmbedCall({
    requestId,
    priority,
    group,
    tenant,
    form,
    body,
    inputs,
  });
  const answer = await channel.unary<EmbedResponse>(
    done => channel.text.embed(message, done),
    call,
  );
  return { kind: 'embeddings', ...decodeEmbedded(answer) };
}

function generateFields(
  { request, group, tenantWeight = 1 }: CallRequest,
  { form, body, maxTokens, n, sink }: GenerateTask,
): GenerateCallFields {
  const { key: requestId, priority, tenant = '', traceparent } = request;
  const stream = sink !== undefined;
  return {
    requestId,
    priority,
    group,
    tenant,
    tenantWeight,
    traceparent,
    form,
    body,
    maxTokens,
    n,
    stream,
  };
}

/** One `Generate` RPC. */
export function generate(
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

/** One generation of a worker in this process. */
export function generateInside(
  call: CallProgress,
  worker: InProcessWorker,
  request: CallRequest,
): Promise<WorkerReply> {
  const { key, payload } = request.request;
  if (payload.kind !== 'generate') throw wentAway('in this process');
  call.began({ cancel: () => worker.cancel(key, '') });
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
  sink: GenerationOutput | undefined,
  run: (take: MessageSink) => Promise<void>,
): Promise<WorkerReply> {
  const writer = sink && call.writeTo(sink.chunks);
  let begun = false;
  let answer: Buffer = EMPTY;
  let done: Done | undefined;
  const take: MessageSink = async ({ $case, value }) => {
    if ($case === 'done') done = corrected(value);
    else if (!writer) answer = value;
    else {
      if (!begun && !writer.gone) sink.begin();
      begun = true;
      await writer.write(value);
    }
  };
  let reply: WorkerReply | undefined;
  try {
    await run(take);
    if (writer?.gone)
      throw new DomainError('request_cancelled', 'The caller disconnected.');
    if (!writer && answer.length === 0) throw failed('The worker sent no answer.');
    if (!done)
      throw failed('The worker ended the text without reporting it as complete.');
    const execution = decodeExecution(done.execution);
    return (reply = { kind: 'generation', answer, ...done, execution });
  } finally {
    writer?.finish(reply !== undefined);
  }
}

type Done = Extract<GenerationMessage, { $case: 'done' }>['value'];

const failed = (message: string): DomainError =>
  new DomainError('engine_failed', message);

import { Inject, Injectable } from '@nestjs/common';
import { type ServerDuplexStream } from '@grpc/grpc-js';
import { encodeStreamEvent } from '../contracts/grpc/stream.codec.js';
import {
  type TranscribeStreamRequest,
  type TranscribeStreamResponse,
} from '../contracts/grpc/stt.codec.js';
import { abortError } from '../core/errors/abort-error.js';
import { DomainError } from '../core/errors/domain-error.js';
import { type StreamHandle } from '../gateway/worker-pool/stream-handle.js';
import { ENGINE } from '../worker/engines/worker-engine.js';
import { CallConversation } from '../worker/grpc/call-conversation.js';
import { InFlightCalls } from '../worker/lifecycle/in-flight-calls.js';
import { ExternalWorker } from './external-worker.js';

type Conversation = CallConversation<TranscribeStreamRequest, TranscribeStreamResponse>;

/**
 * In place of `StreamService`: a live stream goes on to the worker, frame by frame, at
 * the pace of both.
 */
@Injectable()
export class BridgedStreams {
  constructor(
    @Inject(ENGINE) private readonly worker: ExternalWorker,
    private readonly calls: InFlightCalls,
  ) {}

  /**
   * Resolves when the caller has ended the stream and all events are sent. @throws
   * DomainError or the abort's error
   */
  async serve(
    call: ServerDuplexStream<TranscribeStreamRequest, TranscribeStreamResponse>,
  ): Promise<void> {
    const conversation = new CallConversation<
      TranscribeStreamRequest,
      TranscribeStreamResponse
    >(call);
    const first = await conversation.next();
    if (first?.message?.$case !== 'config')
      throw new DomainError(
        'invalid_value',
        'The first message of a stream is its config.',
        { param: 'config' },
      );
    const config = first.message.value;
    await this.calls.run(config.sessionId, call, async signal => {
      const connection = await this.worker.connected();
      await carry(connection.openStream(config), conversation.until(signal), signal);
    });
  }
}

async function carry(
  stream: StreamHandle,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<void> {
  const cancel = (): void => void stream.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    await conversation.send({ event: { $case: 'ready', value: {} } });
    await Promise.all([sendUp(stream, conversation), sendDown(stream, conversation)]);
  } catch (error) {
    throw signal.aborted ? abortError(signal) : error;
  } finally {
    signal.removeEventListener('abort', cancel);
    // Without effect on one that has ended.
    void stream.cancel();
  }
}

async function sendUp(stream: StreamHandle, conversation: Conversation): Promise<void> {
  for (
    let request = await conversation.next();
    request;
    request = await conversation.next()
  ) {
    const { message } = request;
    if (message?.$case === 'audio') await stream.sendFrame(message.value);
    else if (message?.$case === 'commit') await stream.commit();
    else
      throw new DomainError(
        'invalid_value',
        'After its config a stream takes audio and commit only.',
      );
  }
  await stream.close();
}

async function sendDown(stream: StreamHandle, conversation: Conversation): Promise<void> {
  for await (const event of stream.receiveEvents())
    await conversation.send(encodeStreamEvent(event));
}

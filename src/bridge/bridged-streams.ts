import { Inject, Injectable } from '@nestjs/common';
import { encodeStreamEvent } from '../contracts/grpc/stream.codec.js';
import { abortError } from '../core/errors/abort-error.js';
import { DomainError } from '../core/errors/domain-error.js';
import { type StreamHandle } from '../gateway/worker-pool/stream-handle.js';
import { ENGINE } from '../worker/engines/worker-engine.js';
import {
  type ConfigMessage,
  type StreamConversation,
} from '../worker/grpc/stream.service.js';
import { ExternalWorker } from './external-worker.js';

/**
 * In place of `StreamService`: a live stream goes on to the worker, frame by frame, at
 * the pace of both.
 */
@Injectable()
export class BridgedStreams {
  constructor(@Inject(ENGINE) private readonly worker: ExternalWorker) {}

  /**
   * Resolves when the caller has ended the stream and all events are sent. @throws
   * DomainError or the abort's error
   */
  async serve(
    config: ConfigMessage,
    conversation: StreamConversation,
    signal: AbortSignal,
  ): Promise<void> {
    const connection = await this.worker.connected();
    await carry(connection.openStream(config), conversation, signal);
  }
}

async function carry(
  stream: StreamHandle,
  conversation: StreamConversation,
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

async function sendUp(
  stream: StreamHandle,
  conversation: StreamConversation,
): Promise<void> {
  for await (const { message } of conversation.rest()) {
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

async function sendDown(
  stream: StreamHandle,
  conversation: StreamConversation,
): Promise<void> {
  for await (const event of stream.receiveEvents())
    await conversation.send(encodeStreamEvent(event));
}

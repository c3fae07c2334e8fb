import { type ServerDuplexStream } from '@grpc/grpc-js';
import { Injectable } from '@nestjs/common';
import {
  encodeStreamEvent,
  type StreamEvent,
} from '../../contracts/grpc/stream.codec.js';
import {
  type TranscribeStreamRequest,
  type TranscribeStreamResponse,
} from '../../contracts/grpc/stt.codec.js';
import { abortError } from '../../core/errors/abort-error.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { PcmIntake } from '../audio/resampler.js';
import { sherpaPackage } from '../engines/load-package.js';
import { CommittedStream, RecognitionSession } from '../execution/live-stream.js';
import { StreamSlots } from '../execution/stream-slots.js';
import { VoiceActivityStream } from '../execution/voice-activity-stream.js';
import { CallConversation } from './call-conversation.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';

/** Events that may wait for a slow reader before no more of its audio is taken. */
const MOST_WAITING = 64;

/** Sends one stream's events in order while its audio is processed. */
export class EventOutbox<Event> {
  readonly #waiting: Event[] = [];
  #sending: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(private readonly send: (event: Event) => Promise<void>) {}

  put(event: Event): void {
    if (this.#failure) return;
    this.#waiting.push(event);
    this.#sending ??= this.#sendAll();
  }

  /**
   * Resolves when there is room for the events of more audio. @throws what sending threw.
   */
  async room(): Promise<void> {
    if (this.#waiting.length >= MOST_WAITING) await this.#sending;
    this.#throwFailure();
  }

  /** Resolves when all has been sent. @throws what sending threw. */
  async empty(): Promise<void> {
    await this.#sending;
    this.#throwFailure();
  }

  /** Never rejects. */
  async #sendAll(): Promise<void> {
    try {
      for (
        let event = this.#waiting.shift();
        event !== undefined;
        event = this.#waiting.shift()
      )
        await this.send(event);
    } catch (error) {
      this.#failure = { error };
      this.#waiting.length = 0;
    } finally {
      this.#sending = undefined;
    }
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}

type StreamCall = ServerDuplexStream<TranscribeStreamRequest, TranscribeStreamResponse>;
type Conversation = CallConversation<TranscribeStreamRequest, TranscribeStreamResponse>;
type Message = NonNullable<TranscribeStreamRequest['message']>;
type StreamConfig = Extract<Message, { $case: 'config' }>['value'];

/**
 * `TranscribeStream`: config → ready, then audio and commits in order → partials and
 * finals, until the caller's half-close.
 */
@Injectable()
export class StreamService {
  constructor(
    private readonly calls: InFlightCalls,
    private readonly slots: StreamSlots,
  ) {}

  /**
   * Resolves when the caller has ended the stream and all finals are sent.
   * @throws DomainError or the abort's error.
   */
  async serve(call: StreamCall): Promise<void> {
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
    await this.calls.run(config.sessionId, call, signal =>
      this.#session(config, conversation.until(signal), signal),
    );
  }

  async #session(
    config: StreamConfig,
    conversation: Conversation,
    signal: AbortSignal,
  ): Promise<void> {
    const intake = new PcmIntake(config.sampleRate);
    const voice =
      config.voiceActivity && sherpaPackage().openVoiceActivity(config.voiceActivity);
    const { language, prompt, partials } = config;
    const { stream, lease } = await this.slots.open({ language, prompt, partials });
    const outbox = new EventOutbox<StreamEvent>(event =>
      conversation.send(encodeStreamEvent(event)),
    );
    const emit = (event: StreamEvent): void => outbox.put(event);
    const live = voice
      ? new VoiceActivityStream(stream, voice, emit)
      : new CommittedStream(stream, emit);
    // Closed on abort: a recogniser stops in the middle of its work, not after it.
    const close = (): void => void live.close().catch(() => undefined);
    signal.addEventListener('abort', close, { once: true });
    try {
      await conversation.send({ event: { $case: 'ready', value: {} } });
      await serveMessages({
        session: new RecognitionSession(live, intake),
        conversation,
        outbox,
      });
    } catch (error) {
      throw signal.aborted ? abortError(signal) : error;
    } finally {
      await live.close().finally(() => lease.release());
    }
  }
}

interface Session {
  readonly session: RecognitionSession;
  readonly conversation: Conversation;
  readonly outbox: EventOutbox<StreamEvent>;
}

async function serveMessages({ session, conversation, outbox }: Session): Promise<void> {
  for (
    let request = await conversation.next();
    request;
    request = await conversation.next()
  ) {
    await receive(session, request.message);
    await outbox.room();
  }
  await session.end();
  await outbox.empty();
}

function receive(
  session: RecognitionSession,
  message: Message | undefined,
): Promise<void> {
  switch (message?.$case) {
    case 'audio':
      return session.audio(message.value);
    case 'commit':
      return session.commit();
    default:
      throw new DomainError(
        'invalid_value',
        'After its config a stream takes audio and commit only.',
      );
  }
}

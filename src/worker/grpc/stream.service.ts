import { type ServerDuplexStream } from '@grpc/grpc-js';
import { Injectable } from '@nestjs/common';
import { type TranscribeStreamRequest, type TranscribeStreamResponse } from '../../contracts/grpc/stt.codec.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { PcmIntake } from '../audio/pcm-intake.js';
import { type RecognizerEvent } from '../engines/engine.js';
import { RecognitionSession } from '../execution/recognition-session.js';
import { StreamSlots } from '../execution/stream-slots.js';
import { CallConversation } from './call-conversation.js';
import { InFlightCalls } from './in-flight-calls.js';

type StreamCall = ServerDuplexStream<TranscribeStreamRequest, TranscribeStreamResponse>;
type Conversation = CallConversation<TranscribeStreamRequest, TranscribeStreamResponse>;
type Message = NonNullable<TranscribeStreamRequest['message']>;
type StreamConfig = Extract<Message, { $case: 'config' }>['value'];

/** `TranscribeStream`: config → ready, then audio and commits in order → partials and finals, until the caller's half-close. */
@Injectable()
export class StreamService {
  constructor(
    private readonly calls: InFlightCalls,
    private readonly slots: StreamSlots,
  ) {}

  /** Resolves when the caller has ended the stream and all finals are sent. @throws DomainError or the abort's error. */
  async serve(call: StreamCall): Promise<void> {
    const conversation = new CallConversation<TranscribeStreamRequest, TranscribeStreamResponse>(call);
    const first = await conversation.next();
    if (first?.message?.$case !== 'config')
      throw new DomainError('invalid_value', 'The first message of a stream is its config.', { param: 'config' });
    const config = first.message.value;
    await this.calls.run(config.sessionId, call, signal => this.#session(config, conversation.until(signal)));
  }

  async #session(config: StreamConfig, conversation: Conversation): Promise<void> {
    const intake = new PcmIntake(config.sampleRate);
    const { stream, lease } = await this.slots.open({ language: config.language, partials: config.partials });
    const session = new RecognitionSession(stream, intake);
    try {
      await conversation.say({ event: { $case: 'ready', value: {} } });
      await this.#talk(session, conversation);
    } finally {
      await session.close().finally(() => lease.release());
    }
  }

  async #talk(session: RecognitionSession, conversation: Conversation): Promise<void> {
    for (let heard = await conversation.next(); heard; heard = await conversation.next()) {
      for await (const event of answers(session, heard.message)) await conversation.say(encodeEvent(event));
    }
    for await (const event of session.end()) await conversation.say(encodeEvent(event));
  }
}

function answers(session: RecognitionSession, message: Message | undefined): AsyncGenerator<RecognizerEvent> {
  switch (message?.$case) {
    case 'audio':
      return session.audio(message.value);
    case 'commit':
      return session.commit();
    default:
      throw new DomainError('invalid_value', 'After its config a stream takes audio and commit only.');
  }
}

function encodeEvent(event: RecognizerEvent): TranscribeStreamResponse {
  const { utterance, text } = event;
  if (event.type === 'partial') return { event: { $case: 'partial', value: { utterance, text } } };
  const words = event.words.map(word => ({ ...word }));
  return { event: { $case: 'final', value: { utterance, text, start: event.start, end: event.end, words } } };
}

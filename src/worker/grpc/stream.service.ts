import { Inject, Injectable } from '@nestjs/common';
import {
  type RecognizerStream,
  type SpeechRecognizer,
} from '@switchyard/engine-api/speech-recognizer.js';
import {
  encodeStreamEvent,
  type StreamConfig,
  type StreamEvent,
} from '@switchyard/worker-protocol/call.codec.js';
import {
  type TranscribeStreamRequest,
  type TranscribeStreamResponse,
} from '@switchyard/worker-protocol/stt.codec.js';
import { abortError } from '../../core/errors/abort-error.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { PcmIntake } from '../audio/resampler.js';
import { WorkLine } from '../audio/work-line.js';
import { enginePackage } from '../engines/load-package.js';
import { ENGINE } from '../engines/worker-engine.js';
import { type LiveStream, liveStream } from '../execution/voice-activity-stream.js';
import { type CallConversation } from './call-conversation.js';

/** Events that may wait for a slow reader before no more of its audio is taken. */
const MOST_WAITING = 64;

export type StreamConversation = CallConversation<
  TranscribeStreamRequest,
  TranscribeStreamResponse
>;

/**
 * 0.1 s at 16 kHz: long frames are split, so that partials keep coming and a
 * cancel takes effect.
 */
const PIECE = 1600;

/**
 * `TranscribeStream`: after its config → ready, then audio and commits in order →
 * partials and finals, until the caller's half-close. Slots for streams are separate from
 * those for files (D-20).
 */
@Injectable()
export class StreamService {
  #taken = 0;

  constructor(@Inject(ENGINE) private readonly engine: SpeechRecognizer) {}

  /**
   * Resolves when the caller has ended the stream and all finals are sent.
   * @throws DomainError `unsupported_task` when the engine has no streams, `queue_full`
   *   when all are taken; the abort's error.
   */
  async serve(
    config: StreamConfig,
    conversation: StreamConversation,
    signal: AbortSignal,
  ): Promise<void> {
    const intake = new PcmIntake(config.sampleRate);
    const voice =
      config.voiceActivity && enginePackage('sherpa-onnx').openVoiceActivity(config.voiceActivity);
    this.#take();
    try {
      const outbox = new WorkLine(MOST_WAITING);
      const emit = (event: StreamEvent): void =>
        outbox.add(() => conversation.send(encodeStreamEvent(event)));
      const stream = await this.#open(config);
      const live = liveStream(stream, voice, emit);
      await closing(live, signal, async () => {
        await conversation.send({ event: { $case: 'ready', value: {} } });
        await serveMessages(live, intake, conversation, outbox);
      });
    } finally {
      this.#taken -= 1;
    }
  }

  #open({ language, prompt, partials }: StreamConfig): Promise<RecognizerStream> {
    if (this.engine.openStream) return this.engine.openStream({ language, prompt, partials });
    throw new DomainError('unsupported_task', 'This model has no live streams.');
  }

  #take(): void {
    const { streams } = this.engine.info;
    if (this.#taken >= streams && streams > 0)
      throw new DomainError('queue_full', `All ${streams} live streams of this worker are taken.`, {
        retryAfterMs: 1000,
      });
    this.#taken += 1;
  }
}

/** Closes the stream after `work`; on abort at once, in the middle of it. */
async function closing(
  live: LiveStream,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  const close = (): void => void live.close().catch(() => undefined);
  signal.addEventListener('abort', close, { once: true });
  try {
    await work();
  } catch (error) {
    throw signal.aborted ? abortError(signal) : error;
  } finally {
    await live.close();
  }
}

async function serveMessages(
  live: LiveStream,
  intake: PcmIntake,
  conversation: StreamConversation,
  outbox: WorkLine,
): Promise<void> {
  /** Audio came after the last commit. */
  let isOpen = false;
  for await (const message of audioAndCommits(conversation)) {
    isOpen = message.$case === 'audio';
    if (message.$case === 'audio') await push(live, intake.take(message.value));
    else await live.commit();
    await outbox.room();
  }
  // An utterance that is open is finished as by a commit.
  if (isOpen) {
    await push(live, intake.end());
    await live.commit();
  }
  await live.done();
  await outbox.done();
}

/** What follows its config. @throws DomainError for anything else */
export async function* audioAndCommits(conversation: StreamConversation) {
  for await (const { message } of conversation.rest()) {
    if (message?.$case !== 'audio' && message?.$case !== 'commit')
      throw new DomainError(
        'invalid_value',
        'After its config a stream takes audio and commit only.',
      );
    yield message;
  }
}

async function push(live: LiveStream, samples: Int16Array): Promise<void> {
  for (let at = 0; at < samples.length; at += PIECE)
    await live.push(samples.subarray(at, at + PIECE));
}

import { bytesPerSecond } from '../../../contracts/realtime/audio-format.js';
import { type StreamEvent } from '../../../contracts/grpc/stream.codec.js';
import { CLOSE, type CloseCode } from '../../../contracts/realtime/close-code.js';
import {
  type ServerEvent,
  warningEvent,
} from '../../../contracts/realtime/server-event.js';
import { type SessionConfig } from '../../../contracts/realtime/session-config.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { errorDefinition } from '../../../contracts/errors/error-registry.js';
import { type Settings } from '../../../platform/config/settings.js';
import { type StreamHandle } from '../../worker-pool/stream-handle.js';
import { decodeG711 } from './g711.js';
import { type InputState, type JournalAudio } from './session-state.js';
import { type ActivityEvent } from './session-activity.js';
import { InputPace } from './input-pace.js';
import { Transcriber } from './transcriber.js';
import { restoredEntries, type RestoredTranscriber } from './transcriber-state.js';
import { type TranscriptItems } from './transcript-items.js';
import { UtteranceTimes } from './utterance-times.js';

export interface SessionInputOptions {
  readonly limits: Settings['realtime'];
  readonly items: TranscriptItems;
  config(): SessionConfig;
  /**
   * Leases a streaming slot with the session's current settings. @throws DomainError when
   * there is none.
   */
  open(): StreamHandle;
  /** After `open` failed: a slot will be free soon, which is worth waiting for. */
  slotExpected(error: DomainError): boolean;
  send(event: ServerEvent): void;
  emit(type: Exclude<ActivityEvent['type'], 'recognised'>, ms: number): void;
  /** Final text has arrived for that much audio. */
  onRecognised(seconds: number): void;
  /** Speech began: a response may have to stop. */
  onSpeech(): void;
  /** Stops reading the socket for that long. */
  onTooFast(pauseMs: number): void;
  /** The session cannot continue. */
  onFatal(error: DomainError, code: CloseCode): void;
  nowMs(): number;
  /** Every piece of audio, as PCM at its position in the session. */
  onAudio?(audio: JournalAudio): void;
  /** Of a session that another gateway began. */
  readonly restored?: {
    readonly state: InputState;
    readonly audio: readonly JournalAudio[];
  };
}

/**
 * Audio of the client in its format → PCM → the recogniser; and the recogniser's
 * results → events.
 */
export class SessionInput {
  readonly #pace: InputPace;
  readonly #times = new UtteranceTimes();
  #transcriber: Transcriber | undefined;
  #receivedBytes = 0;
  #uncommittedBytes = 0;
  #warnedTooFast = false;

  constructor(private readonly options: SessionInputOptions) {
    this.#pace = new InputPace(options.limits.maxAheadMs);
    this.#uncommittedBytes = options.restored?.state.uncommittedBytes ?? 0;
  }

  /** Its progress, for another gateway. */
  get state(): InputState {
    const transcriber = this.#transcriber?.state;
    return {
      uncommittedBytes: this.#uncommittedBytes,
      ...(transcriber && { transcriber }),
    };
  }

  /** Audio that another gateway would need. */
  get storedAudio(): readonly JournalAudio[] {
    return this.#transcriber?.storedAudio ?? [];
  }

  /** Continues where another gateway stopped. */
  restore(): void {
    const { state, audio = [] } = this.options.restored ?? {};
    if (!state?.transcriber) return;
    const { position } = state.transcriber;
    this.#receivedBytes =
      this.options.config().format.encoding === 'pcm16' ? position : position / 2;
    this.#transcriber = this.#begin({
      ...state.transcriber,
      entries: restoredEntries(state.transcriber, audio),
    });
  }

  /** Audio has arrived: the format of the session is fixed. */
  get begun(): boolean {
    return this.#receivedBytes > 0;
  }

  /**
   * Milliseconds of audio received so far; a client that resumes continues from there.
   */
  get receivedMs(): number {
    return (1000 * this.#receivedBytes) / bytesPerSecond(this.options.config().format);
  }

  /** True while a streaming slot is leased. */
  get live(): boolean {
    return this.#transcriber?.live ?? false;
  }

  /**
   * @throws DomainError `queue_full`, `no_worker` when there is no streaming slot for the
   *   first audio and none
   * expected.
   */
  append(audio: Buffer): void {
    if (audio.length === 0) return;
    const { encoding } = this.options.config().format;
    const transcriber = (this.#transcriber ??= this.#begin());
    this.#receivedBytes += audio.length;
    this.#uncommittedBytes += audio.length;
    this.#times.arrived(this.receivedMs / 1000, this.options.nowMs());
    transcriber.audio(encoding === 'pcm16' ? audio : decodeG711(audio, encoding));
    this.#throttle((1000 * audio.length) / bytesPerSecond(this.options.config().format));
  }

  /** @throws DomainError `input_audio_buffer_commit_empty` */
  commit(): void {
    this.#demandAudio();
    const manual = this.options.config().turnDetection === null;
    this.#times.committed(this.options.nowMs());
    this.#transcriber?.commit();
    // With voice activity only speech is an item; speech that is not detected yet is
    // announced when it is.
    if (manual || this.options.items.speaking)
      for (const event of this.options.items.commit()) this.options.send(event);
  }

  /** Discards the current utterance. */
  clear(): void {
    const { items } = this.options;
    const manual = this.options.config().turnDetection === null;
    if (this.#uncommittedBytes > 0 && (manual || items.speaking)) {
      items.clear();
      this.#transcriber?.commit();
    }
    this.#uncommittedBytes = 0;
    this.options.send({ type: 'input_audio_buffer.cleared' });
  }

  /** Settings changed: what follows is for a new stream. */
  reopen(): void {
    this.#transcriber?.reopen();
  }

  /** Finishes the last utterance. Never rejects. */
  async flush(limitMs: number): Promise<void> {
    await this.#transcriber?.flush(limitMs);
  }

  /** Resolves when its streaming slot is free. Never rejects. */
  get released(): Promise<void> {
    return this.#transcriber?.released ?? Promise.resolve();
  }

  /** Ends without an answer, within 50 ms. Never rejects. */
  async cancel(): Promise<void> {
    await this.#transcriber?.cancel();
  }

  #demandAudio(): void {
    if (this.#uncommittedBytes === 0)
      throw new DomainError(
        'input_audio_buffer_commit_empty',
        'There is no audio since the last commit.',
      );
    this.#uncommittedBytes = 0;
  }

  #begin(restored?: RestoredTranscriber): Transcriber {
    const { limits } = this.options;
    const transcriber = new Transcriber({
      open: () => this.options.open(),
      slotExpected: error => this.options.slotExpected(error),
      bytesPerSecond: 2 * this.options.config().format.sampleRate,
      ...(restored && { restored }),
      onAudio: (pcm, start) => this.options.onAudio?.({ pcm, start }),
      replayS: limits.replayMs / 1000,
      recoveryMs: limits.recoveryMs,
      onEvent: event => this.#receive(event),
      onRecovered: () => this.#recovered(),
      onFailed: (error, final) => this.#failed(error, final),
    });
    transcriber.start();
    return transcriber;
  }

  #receive(event: StreamEvent): void {
    if (event.type === 'speech_started' || event.type === 'speech_stopped')
      this.options.emit(event.type, 0);
    for (const { kind, ms } of this.#times.receive(event, this.options.nowMs()))
      this.options.emit(kind, ms);
    for (const result of this.options.items.receive(event)) this.options.send(result);
    if (event.type === 'final') this.options.onRecognised(event.end - event.start);
    if (event.type === 'speech_started') this.options.onSpeech();
  }

  #recovered(): void {
    this.options.emit('recovered', 0);
    const message =
      'A recogniser died and was replaced; it gets the audio since the last completed segment again.';
    this.options.send(warningEvent('worker_replaced', message));
  }

  #failed(error: DomainError, final: boolean): number {
    const events = this.options.items.fail(error);
    for (const event of events) this.options.send(event);
    if (events.length === 0 && !final)
      this.options.send(
        warningEvent(
          'audio_lost',
          `Audio since the last segment was not recognised: ${error.message}`,
        ),
      );
    if (final) {
      this.options.emit('failed', 0);
      const code =
        errorDefinition(error).retry === 'later'
          ? CLOSE.tryAgainLater
          : CLOSE.internalError;
      this.options.onFatal(error, code);
    }
    return this.options.items.next;
  }

  /** Faster than real time, or than the recogniser: slowed, then warned, then closed. */
  #throttle(audioMs: number): void {
    const { limits } = this.options;
    const backlogMs = 1000 * (this.#transcriber?.backlogS ?? 0);
    const { pauseMs, lost } = this.#pace.received(
      audioMs,
      backlogMs,
      this.options.nowMs(),
    );
    if (lost === 'client') return this.options.onFatal(tooFast(), CLOSE.policyViolation);
    if (lost === 'recogniser')
      return this.options.onFatal(tooSlow(), CLOSE.tryAgainLater);
    if (pauseMs <= 0) return;
    this.options.onTooFast(pauseMs);
    if (this.#warnedTooFast) return;
    this.#warnedTooFast = true;
    const aheadS = limits.maxAheadMs / 1000;
    const message = `More than ${aheadS} s ahead of real time or of the recogniser: reading is slowed.`;
    this.options.send(warningEvent('input_too_fast', message));
  }
}

const tooFast = (): DomainError =>
  new DomainError(
    'input_too_fast',
    'Audio arrived faster than real time although reading was slowed.',
  );
const tooSlow = (): DomainError =>
  new DomainError('queue_full', 'The recogniser does not keep up with the audio.', {
    retryAfterMs: 1000,
  });

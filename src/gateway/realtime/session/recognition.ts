import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { laterBy, movedEvent } from '@switchyard/engine-api/speech-recognizer.js';
import { type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';
import { errorDefinition } from '../../../contracts/errors/error-registry.js';
import { warningEvent, CLOSE } from '../../../contracts/realtime/realtime-event.js';
import { type SessionConfig } from '../../../contracts/realtime/session-config.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type Settings } from '../../../platform/config/settings.js';
import {
  type AdoptedSession,
  type JournalAudio,
  type SessionState,
} from '../journal/session-state.js';
import { AudioLog } from './audio-log.js';
import { decodeG711 } from './g711.js';
import { inputPace } from './input-pace.js';
import { type SessionActions } from './session-actions.js';
import { type SessionServices } from './session-services.js';
import { TrailingFinal } from './trailing-final.js';
import { TranscriptItems } from './transcript-items.js';
import { UtteranceTimes } from './utterance-times.js';

/** Between two attempts to get a slot, in milliseconds. */
export const PAUSES = { firstMs: 50, longestMs: 1000 };

/** Audio since the last segment that is buffered for a replacement worker, in seconds. */
const REPLAY_S = 60;

/**
 * Streams that may die without a completed segment in between: then the audio itself
 * is what kills.
 */
const MAX_ATTEMPTS = 3;

/**
 * Streams in a row that a worker may refuse, though its slots were counted as free: 5 s
 * in all.
 */
const MAX_REFUSALS = 9;

/**
 * A final's end may fall short of the commit it answers by what the resampler still
 * holds: some milliseconds.
 */
const COMMIT_TOLERANCE_S = 0.05;

/**
 * The recognition of one session, over as many streams as it takes: the client's audio →
 * what the recogniser gets, its results → events. A stream that dies is replaced, and the
 * new one gets everything since the last completed segment again. Synchronous; times in
 * milliseconds of one clock.
 */
export class Recognition {
  readonly items: TranscriptItems;
  readonly #log = new AudioLog();
  readonly #times: UtteranceTimes;
  readonly #pace: ReturnType<typeof inputPace>;
  readonly #limits: Settings['realtime'];
  #uncommittedBytes = 0;
  /** Half a sample at the end of a frame, which waits for its other half. */
  #oddByte: Buffer = Buffer.alloc(0);
  #warnedTooFast = false;
  #attempts = 0;
  #refusals = 0;
  /** Second of the session at which the current stream began. */
  #startS = 0;
  #utterance = 0;
  #trailing = new TrailingFinal();

  constructor(
    public config: SessionConfig,
    services: SessionServices,
    private readonly session: SessionActions,
    adopted?: AdoptedSession,
  ) {
    this.#limits = services.settings.realtime;
    this.#pace = inputPace(this.#limits.maxAheadMs);
    this.#times = new UtteranceTimes((fact, ms) => session.count(fact, ms));
    this.items = new TranscriptItems(
      event => session.send(event),
      spoken => services.written(spoken, this.config),
      adopted?.state.items,
    );
    if (!adopted) return;
    const { uncommittedBytes, transcriber } = adopted.state.input;
    this.#uncommittedBytes = uncommittedBytes;
    if (transcriber) this.#log.restore(transcriber, adopted.audio);
  }

  get state(): SessionState['input'] {
    const uncommittedBytes = this.#uncommittedBytes;
    if (!this.begun) return { uncommittedBytes };
    return {
      uncommittedBytes,
      transcriber: { ...this.#log.state, finals: this.items.finals },
    };
  }

  /** Audio that another gateway would need. */
  get storedAudio(): readonly JournalAudio[] {
    return this.#log.audio;
  }

  /** Audio has arrived: the format of the session is fixed. */
  get begun(): boolean {
    return this.#received > 0;
  }

  /**
   * Milliseconds of audio received so far; a client that resumes continues from there.
   */
  get receivedMs(): number {
    return (1000 * this.#received) / this.#bytesPerSecond;
  }

  /** Bytes of PCM. */
  get #received(): number {
    return this.#log.position + this.#oddByte.length;
  }

  /** Bytes of PCM per second of audio. */
  get #bytesPerSecond(): number {
    return 2 * this.config.format.sampleRate;
  }

  audio(frame: Buffer, nowMs: number): void {
    if (frame.length === 0) return;
    if (!this.begun) this.session.open();
    const { encoding } = this.config.format;
    const before = this.#received;
    this.#uncommittedBytes += frame.length;
    const pcm = encoding === 'pcm16' ? this.#samples(frame) : decodeG711(frame, encoding);
    if (pcm.length > 0) this.session.audio(this.#log.append(pcm));
    this.#times.arrived(this.receivedMs / 1000, nowMs);
    this.#keepPace((1000 * (this.#received - before)) / this.#bytesPerSecond, nowMs);
  }

  /** @throws DomainError `input_audio_buffer_commit_empty` */
  commit(nowMs: number): void {
    if (this.#uncommittedBytes === 0)
      throw new DomainError(
        'input_audio_buffer_commit_empty',
        'There is no audio since the last commit.',
      );
    this.#uncommittedBytes = 0;
    this.#times.committed(nowMs);
    this.#log.commit();
    // With voice activity only speech is an item; speech that is not detected yet is
    // announced when it is.
    if (this.#inUtterance) this.items.commit();
  }

  /** Discards the current utterance. */
  clear(): void {
    if (this.#uncommittedBytes > 0 && this.#inUtterance) {
      this.items.clear();
      this.#log.commit();
    }
    this.#uncommittedBytes = 0;
    this.session.send({ type: 'input_audio_buffer.cleared' });
  }

  get #inUtterance(): boolean {
    return this.config.turnDetection === null || this.items.speaking;
  }

  /** The old stream finishes what it got so far, a new one gets the rest. */
  reopen(): void {
    if (this.begun) this.#log.order('reopen');
  }

  /** The last utterance is finished. */
  end(): void {
    this.#log.order('end');
  }

  /** What the recogniser gets next. */
  next() {
    return this.#log.next(REPLAY_S * this.#bytesPerSecond);
  }

  /** @param config from now on */
  configure(config: SessionConfig): void {
    this.config = config;
  }

  /**
   * A stream begins.
   * @param agreement of its `StreamHandle`
   */
  opened(agreement: number): void {
    this.items.agreeing(agreement);
    this.#startS = this.#log.nextStart / this.#bytesPerSecond;
    this.#utterance = this.items.finals;
    this.#trailing = new TrailingFinal();
  }

  /** @param closing the stream gets nothing more */
  heard(event: StreamEvent, closing: boolean, nowMs: number): void {
    for (const due of this.#trailing.before(event, closing)) this.#result(due, nowMs);
  }

  /** The stream has ended as it should. */
  closed(): void {
    const { endS } = this.#trailing;
    if (endS !== undefined) this.#completed(endS);
  }

  /** The stream died, was refused, or could not be opened. */
  lost(error: DomainError): void {
    // Its slot belongs to another gateway, or to a stream that is ending. No audio was
    // taken, so it is no attempt.
    if (error.code === 'queue_full') {
      this.#refusals += 1;
      const afterMs = backoffMs(this.#refusals, PAUSES);
      if (this.#refusals > MAX_REFUSALS) return this.giveUp(error);
      return this.session.reconnect(afterMs, false);
    }
    const report = errorDefinition(error).retry === 'later';
    this.#attempts += 1;
    if (!report) this.#forget(error);
    if (this.#attempts > MAX_ATTEMPTS) this.giveUp(error);
    else this.session.reconnect(0, report);
  }

  /** The next stream gets everything since the last completed segment. */
  rewind(): void {
    this.#log.rewind();
  }

  /** Another worker continues from the last completed segment. */
  recovered(): void {
    this.session.count('recovered');
    const message =
      'A recogniser died and was replaced; it gets the audio since the last completed segment again.';
    this.session.send(warningEvent('worker_replaced', message));
  }

  /** Nothing gets an answer from here on. */
  giveUp(error: DomainError): void {
    this.items.fail(error);
    this.session.count('failed');
    const later = errorDefinition(error).retry === 'later';
    const code = later ? CLOSE.tryAgainLater : CLOSE.internalError;
    this.session.fail(error, code);
  }

  /** The engine failed on this audio: it is not replayed. */
  #forget(error: DomainError): void {
    this.#log.completed(Infinity);
    const { pending } = this.items;
    this.items.fail(error);
    if (pending) return;
    const message = `Audio since the last segment was not recognised: ${error.message}`;
    this.session.send(warningEvent('audio_lost', message));
  }

  #result(result: StreamEvent, nowMs: number): void {
    const event = inSession(result, this.#utterance, this.#startS);
    this.#refusals = 0;
    if (result.type === 'final') {
      this.#attempts = 0;
      // Not rounded to milliseconds, as in events: no sample is replayed twice.
      this.#completed(result.end);
    }
    if (event.type === 'speech_started' || event.type === 'speech_stopped')
      this.session.count(event.type);
    this.#times.receive(event, nowMs);
    this.items.receive(event);
    if (event.type === 'final') this.session.recognised(event.end - event.start);
    if (event.type === 'speech_started' && this.config.turnDetection?.interruptResponse)
      this.session.response?.cancel('turn_detected');
  }

  /** @param endS second of the stream */
  #completed(endS: number): void {
    const end = (endS + this.#startS) * this.#bytesPerSecond;
    this.#log.completed(end, end + COMMIT_TOLERANCE_S * this.#bytesPerSecond);
  }

  #samples(frame: Buffer): Buffer {
    const bytes = this.#oddByte.length === 0 ? frame : Buffer.concat([this.#oddByte, frame]);
    const pcm = bytes.subarray(0, bytes.length - (bytes.length % 2));
    this.#oddByte = bytes.subarray(pcm.length);
    return pcm;
  }

  /** Faster than real time, or than the recogniser: slowed, then warned, then closed. */
  #keepPace(audioMs: number, nowMs: number): void {
    const backlogMs = (1000 * this.#log.waitingBytes) / this.#bytesPerSecond;
    const { pauseMs, lost } = this.#pace(audioMs, backlogMs, nowMs);
    if (lost === 'client') return this.session.fail(tooFast(), CLOSE.policyViolation);
    if (lost === 'recogniser') return this.session.fail(tooSlow(), CLOSE.tryAgainLater);
    if (pauseMs <= 0) return;
    this.session.slowDown(pauseMs);
    if (this.#warnedTooFast) return;
    this.#warnedTooFast = true;
    const aheadS = this.#limits.maxAheadMs / 1000;
    const message = `More than ${aheadS} s ahead of real time or of the recogniser: reading is slowed.`;
    this.session.send(warningEvent('input_too_fast', message));
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

/**
 * The event with the session's utterance number and times.
 * @param utterances completed before this stream
 * @param startS second of the session at which the stream begins
 */
function inSession(event: StreamEvent, utterances: number, startS: number): StreamEvent {
  const utterance = event.utterance + utterances;
  return event.type === 'partial' || event.type === 'final'
    ? movedEvent(event, utterance, startS)
    : { ...event, utterance, at: laterBy(event.at, startS) };
}

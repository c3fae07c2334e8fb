import { type StreamEvent } from '../../../contracts/grpc/stream.codec.js';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { errorDefinition } from '../../../contracts/errors/error-registry.js';
import { type StreamHandle } from '../../worker-pool/stream-handle.js';
import { inSession, TrailingFinal } from './stream-events.js';
import { PAUSES, reconnect, type Recovery } from './reconnect.js';
import { ReplayBuffer, type Utterance } from './replay-buffer.js';
import {
  type RestoredTranscriber,
  transcriberState,
  type TranscriberState,
} from './transcriber-state.js';

export interface TranscriberOptions {
  /**
   * Leases a slot and opens a stream with the session's current settings. @throws
   * DomainError when there is none.
   */
  open(): StreamHandle;
  /** After `open` failed for the first stream: a slot will be free soon. */
  slotExpected(error: DomainError): boolean;
  /** PCM s16le. */
  readonly bytesPerSecond: number;
  readonly replayS: number;
  readonly recoveryMs: number;
  /** Utterances count through the whole session, times are seconds from its start. */
  onEvent(event: StreamEvent): void;
  /**
   * A worker died and another one continues from the last completed segment. Called
   * once per death.
   */
  onRecovered(): void;
  /**
   * Audio since the last completed segment gets no answer; `final`: nor will
   * anything that follows.
   * @returns the number of the next utterance
   */
  onFailed(error: DomainError, final: boolean): number;
  /** Every piece of audio at its position, as it is accepted. */
  onAudio?(pcm: Buffer, start: number): void;
  /** Of a session that another gateway began. */
  readonly restored?: RestoredTranscriber;
}

type Order = Utterance | { readonly kind: 'reopen' | 'end' };

/**
 * Streams that may die without a completed segment in between: then the audio itself
 * is what kills.
 */
const MAX_ATTEMPTS = 3;
/**
 * Streams in a row that a worker may refuse, though its slots were counted as free: 5
 * s in all.
 */
const MAX_REFUSALS = 9;

/**
 * The recognition of one session, over as many streams as it takes. Audio and commits are
 * sent in order, at the worker's pace. A stream that dies is replaced, and gets
 * everything since the last completed segment again.
 */
export class Transcriber {
  readonly #orders: Order[] = [];
  readonly #replay: ReplayBuffer;
  #handle: StreamHandle | undefined;
  /** Half-closed: no more audio follows. */
  #closing: StreamHandle | undefined;
  /** Bytes of audio accepted so far. */
  #position = 0;
  #waitingBytes = 0;
  #oddByte: Buffer = Buffer.alloc(0);
  #finals = 0;
  #attempts = 0;
  #refusals = 0;
  #pumping = false;
  #recovering = false;
  #ended = false;
  readonly #waiting = new AbortController();
  #flushed: () => void = () => undefined;
  /** Resolves when all events of the current stream have been emitted. */
  #listening: Promise<void> = Promise.resolve();
  #released: Promise<void> = Promise.resolve();

  constructor(private readonly options: TranscriberOptions) {
    this.#replay = new ReplayBuffer(options.bytesPerSecond, options.replayS);
    const { position = 0, finals = 0, entries = [] } = options.restored ?? {};
    [this.#position, this.#finals] = [position, finals];
    for (const entry of entries)
      if (entry.kind === 'audio') this.#replay.audio(entry.pcm, entry.start);
      else this.#replay.commit(entry.start);
  }

  /** Its progress, for another gateway. */
  get state(): TranscriberState {
    return transcriberState([this.#replay.entries(), this.#orders], {
      position: this.#position,
      finals: this.#finals,
    });
  }

  /** Audio since the last completed segment, at its position. */
  get storedAudio(): readonly { readonly start: number; readonly pcm: Buffer }[] {
    return [...this.#replay.entries(), ...this.#orders].filter(
      entry => entry.kind === 'audio',
    );
  }

  /** True while a slot is leased. */
  get live(): boolean {
    return this.#handle !== undefined;
  }

  /** Resolves when its slot is free. Never rejects. */
  get released(): Promise<void> {
    return this.#released;
  }

  /** Seconds of audio that no worker has taken yet. */
  get backlogS(): number {
    return this.#waitingBytes / this.options.bytesPerSecond;
  }

  /**
   * Opens the first stream, or waits for one. @throws DomainError when there is no slot,
   * and none expected.
   */
  start(): void {
    if (this.options.restored) return void this.#recover({ reported: true });
    try {
      this.#connect();
    } catch (error) {
      if (!(error instanceof DomainError) || !this.options.slotExpected(error))
        throw error;
      void this.#recover({ worthWaiting: failure => this.options.slotExpected(failure) });
    }
  }

  /** @param frame may end in the middle of a sample; the rest follows in the next one */
  audio(frame: Buffer): void {
    const bytes =
      this.#oddByte.length === 0 ? frame : Buffer.concat([this.#oddByte, frame]);
    const pcm = bytes.subarray(0, bytes.length - (bytes.length % 2));
    this.#oddByte = bytes.subarray(pcm.length);
    if (pcm.length === 0) return;
    this.#waitingBytes += pcm.length;
    const start = this.#position;
    this.#position += pcm.length;
    this.#order({ kind: 'audio', pcm, start });
    this.options.onAudio?.(pcm, start);
  }

  commit(): void {
    this.#order({ kind: 'commit', start: this.#position });
  }

  /**
   * Settings changed: the old stream finishes what it got so far, a new one
   * gets the rest.
   */
  reopen(): void {
    this.#order({ kind: 'reopen' });
  }

  /**
   * Finishes the last utterance. Resolves when its events have been emitted, or after
   * `limitMs`. Never rejects.
   */
  async flush(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>(done => {
      timer = setTimeout(done, limitMs);
      this.#flushed = done;
      if (this.live || this.#recovering) this.#order({ kind: 'end' });
      else done();
    });
    clearTimeout(timer);
    await this.cancel();
  }

  /** Ends without an answer, within 50 ms. Idempotent. */
  async cancel(): Promise<void> {
    this.#ended = true;
    this.#orders.length = 0;
    this.#waiting.abort();
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.cancel();
  }

  #order(order: Order): void {
    if (this.#ended) return;
    this.#orders.push(order);
    void this.#pump();
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      while (this.#handle && this.#orders.length > 0)
        await this.#send(this.#handle, this.#orders.shift()!);
    } finally {
      this.#pumping = false;
    }
  }

  async #send(handle: StreamHandle, order: Order): Promise<void> {
    switch (order.kind) {
      case 'audio':
        this.#replay.audio(order.pcm, order.start);
        this.#waitingBytes -= order.pcm.length;
        await handle.sendFrame(order.pcm);
        return;
      case 'commit':
        this.#replay.commit(order.start);
        return handle.commit();
      case 'reopen':
      case 'end':
        return this.#finish(handle, order);
    }
  }

  /**
   * If the stream dies meanwhile, it is replaced as usual: the new one has the new
   * settings, or is asked to end.
   */
  async #finish(handle: StreamHandle, order: Order): Promise<void> {
    this.#closing = handle;
    await handle.close();
    await this.#listening;
    const died = this.#handle !== handle;
    if (order.kind === 'reopen') return died ? undefined : this.#replace();
    if (died && !this.#ended) this.#orders.push(order);
    else this.#flushed();
  }

  #replace(): void {
    try {
      this.#connect();
    } catch (error) {
      this.#handle = undefined;
      this.#lost(error as DomainError);
    }
  }

  #connect(): void {
    const first = this.#orders.find(order => order.kind === 'audio');
    const startS =
      (first?.kind === 'audio' ? first.start : this.#position) /
      this.options.bytesPerSecond;
    const handle = this.options.open();
    this.#handle = handle;
    this.#released = handle.finished;
    this.#listening = this.#listen(handle, { startS, utterance: this.#finals });
    void this.#pump();
  }

  async #listen(
    handle: StreamHandle,
    base: { startS: number; utterance: number },
  ): Promise<void> {
    try {
      const trailing = new TrailingFinal();
      for await (const event of handle.receiveEvents())
        for (const due of trailing.before(event, handle === this.#closing))
          this.#emit(due, base);
      if (trailing.endS !== undefined)
        this.#replay.completed(trailing.endS + base.startS);
    } catch (error) {
      if (this.#handle !== handle || this.#ended) return;
      this.#handle = undefined;
      this.#lost(error as DomainError);
    }
  }

  #emit(
    event: StreamEvent,
    { startS, utterance }: { startS: number; utterance: number },
  ): void {
    const emitted = inSession(event, utterance, startS);
    this.#refusals = 0;
    if (event.type === 'final') {
      this.#finals = emitted.utterance + 1;
      this.#attempts = 0;
      // Not rounded to milliseconds, as in events: no sample is replayed twice.
      this.#replay.completed(event.end + startS);
    }
    this.options.onEvent(emitted);
  }

  #lost(error: DomainError): void {
    if (error.code === 'queue_full') return this.#refused(error);
    const retriable = errorDefinition(error).retry === 'later';
    this.#attempts += 1;
    if (!retriable) this.#forget(error);
    if (this.#attempts > MAX_ATTEMPTS) return this.#giveUp(error);
    void this.#recover({ reported: retriable });
  }

  /**
   * Its slot belongs to another gateway, or to a stream that is ending. No audio was
   * taken, so it is no attempt.
   */
  #refused(error: DomainError): void {
    this.#refusals += 1;
    if (this.#refusals > MAX_REFUSALS) return this.#giveUp(error);
    void this.#recover({ afterMs: backoffMs(this.#refusals, PAUSES) });
  }

  /** The engine failed on this audio: it is not replayed. */
  #forget(error: DomainError): void {
    this.#replay.completed(Number.MAX_SAFE_INTEGER / this.options.bytesPerSecond);
    this.#finals = this.options.onFailed(error, false);
  }

  async #recover({
    reported = false,
    afterMs = 0,
    worthWaiting = () => true,
  }: Recovery): Promise<void> {
    this.#recovering = true;
    this.#requeueReplay();
    const { signal } = this.#waiting;
    const limitMs = this.options.recoveryMs;
    const connect = (): void => this.#connect();
    const failure = await reconnect({ connect, worthWaiting, afterMs, limitMs, signal });
    this.#recovering = false;
    if (this.#ended) return;
    if (failure) this.#giveUp(failure);
    else if (reported) this.options.onRecovered();
  }

  #requeueReplay(): void {
    const entries = this.#replay.entries();
    this.#waitingBytes += entries.reduce(
      (sum, entry) => sum + (entry.kind === 'audio' ? entry.pcm.length : 0),
      0,
    );
    this.#orders.unshift(...entries);
    this.#replay.clear();
  }

  #giveUp(error: DomainError): void {
    this.#ended = true;
    this.#orders.length = 0;
    this.#waitingBytes = 0;
    this.options.onFailed(error, true);
    this.#flushed();
  }
}

import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { pause } from '@switchyard/engine-api/process/pause.js';
import { type ServerEvent, warningEvent } from '../../../contracts/realtime/realtime-event.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { demandModel, type Principal } from '../../../platform/auth/principal.js';
import { type StreamHandle } from '../../../worker-client/stream-handle.js';
import { type Recognisers } from './recognisers.js';
import { PAUSES, type Recognition } from './recognition.js';
import { type SessionCore } from './session-core.js';

/**
 * The streams of one session, one at a time: sends what its recognition has for the
 * recogniser, at the worker's pace, and hands results and deaths over to it.
 */
export class RecogniserStreams {
  readonly #ended = new AbortController();
  #handle: StreamHandle | undefined;
  /** Half-closed: no more audio follows. */
  #closing: StreamHandle | undefined;
  #pumping = false;
  #reconnecting = false;
  /** Resolves when all events of the current stream have been handed over. */
  #listening = Promise.resolve();
  #released = Promise.resolve();
  #flushed: () => void = () => undefined;
  readonly #recognition: Recognition;
  #model = '';
  /** The model that its client was told to be loading. */
  #told = '';
  #count = 0;

  constructor(
    private readonly core: SessionCore,
    private readonly session: {
      readonly id: string;
      readonly owner: Principal;
      send(event: ServerEvent): void;
    },
    private readonly options: {
      readonly recognisers: Recognisers;
      /** Longest wait for a stream, in milliseconds. */
      readonly recoveryMs: number;
      /** A slot of the model is being released. */
      slotComing(this: void, model: string): boolean;
      /** Runs `act`; an error that it throws ends the session. */
      run(this: void, act: () => void): void;
    },
  ) {
    this.#recognition = core.recognition;
  }

  /** Canonical id of the model of the last stream. */
  get model(): string {
    return this.#model;
  }

  /** True while a slot is leased. */
  get live(): boolean {
    return this.#handle !== undefined;
  }

  /** Resolves when its slot is free. Never rejects. */
  get released(): Promise<void> {
    return this.#released;
  }

  /**
   * Opens the first stream, or waits for one. @throws DomainError when there is no slot,
   * and none expected.
   */
  open(): void {
    if (this.#handle || this.#reconnecting) return;
    try {
      this.#connect();
    } catch (error) {
      if (!(error instanceof DomainError) || !this.#slotExpected(error)) throw error;
      void this.reconnect(0, false, failure => this.#slotExpected(failure));
    }
  }

  /** Opens another stream as soon as a worker has a slot. Never rejects. */
  async reconnect(
    afterMs: number,
    report: boolean,
    worthWaiting: (error: DomainError) => boolean = () => true,
  ): Promise<void> {
    const recognition = this.#recognition;
    const { run } = this.options;
    this.#reconnecting = true;
    recognition.rewind();
    const failure = await this.#connected(afterMs, worthWaiting);
    this.#reconnecting = false;
    if (this.#ended.signal.aborted) return;
    if (failure) run(() => recognition.giveUp(failure));
    else if (report) run(() => recognition.recovered());
  }

  /** Sends the entries that are due, one after the other. */
  async pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      for (let handle = this.#handle; handle; handle = this.#handle) {
        const next = this.#recognition.next();
        if (!next) return;
        if (next.kind === 'audio') await handle.sendFrame(next.pcm);
        else if (next.kind === 'commit') await handle.commit();
        else await this.#finish(handle, next.kind);
      }
    } finally {
      this.#pumping = false;
    }
  }

  /**
   * Finishes the last utterance. Resolves when its events have been handed over, or after
   * `limitMs`. Never rejects.
   */
  async flush(limitMs: number): Promise<void> {
    if (this.#handle || this.#reconnecting) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, limitMs);
      this.#flushed = resolve;
      this.#recognition.end();
      void this.pump();
      await promise;
      clearTimeout(timer);
    }
    await this.cancel();
  }

  /** Ends the stream without waiting for its results, within 50 ms. Idempotent. */
  async cancel(): Promise<void> {
    this.#ended.abort();
    this.#flushed();
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.cancel();
  }

  /**
   * If the stream dies meanwhile, it is replaced as usual: the new one has the new
   * settings, or is asked to end.
   */
  async #finish(handle: StreamHandle, order: 'reopen' | 'end'): Promise<void> {
    this.#closing = handle;
    const listening = this.#listening;
    await handle.close();
    await listening;
    const died = this.#handle !== handle;
    if (order === 'reopen') return died ? undefined : this.#replace();
    if (died && !this.#ended.signal.aborted) this.#recognition.end();
    else this.#flushed();
  }

  #replace(): void {
    try {
      this.#connect();
    } catch (error) {
      this.#lost(error as DomainError);
    }
  }

  /**
   * Tries until the time is up or waiting is pointless.
   * @returns why there is no stream; undefined when there is one, or the session has
   *   ended
   */
  async #connected(
    afterMs: number,
    worthWaiting: (error: DomainError) => boolean,
  ): Promise<DomainError | undefined> {
    const { signal } = this.#ended;
    const endMs = performance.now() + this.options.recoveryMs;
    if (afterMs > 0) await pause(afterMs, signal);
    for (let failures = 1; !signal.aborted; failures += 1) {
      const pauseMs = backoffMs(failures, PAUSES);
      try {
        this.#connect();
        return undefined;
      } catch (error) {
        const failure = error as DomainError;
        if (performance.now() + pauseMs > endMs || !worthWaiting(failure))
          return this.#withTime(failure);
      }
      await pause(pauseMs, signal);
    }
    return undefined;
  }

  /** With the time at which the model is expected, if it is not on its device. */
  #withTime(failure: DomainError): DomainError {
    const { code } = failure;
    const awaited = code === 'no_worker' && this.options.recognisers.awaited(this.model);
    if (!awaited) return failure;
    return new DomainError(code, `${awaited.text}.`, { retryAfterMs: awaited.inMs });
  }

  /** After the first stream could not be opened: a slot will be free soon. */
  #slotExpected({ code }: DomainError): boolean {
    const model = this.#model;
    const { recognisers, slotComing } = this.options;
    if (code === 'queue_full') return slotComing(model);
    if (code !== 'no_worker' || !recognisers.loads(model)) return false;
    const awaited = this.#told !== model && recognisers.awaited((this.#told = model));
    if (awaited) this.session.send(warningEvent('model_loading', `${awaited.text}.`));
    return true;
  }

  /** Leases a slot and opens a stream with the session's settings. @throws DomainError */
  #connect(): void {
    const { core, session } = this;
    const { id: model } = core.demandTranscriber();
    demandModel(session.owner.terms, model);
    this.#model = model;
    // Unique per stream: a worker may still be ending the last one.
    const id = `${session.id}.${++this.#count}`;
    const handle = this.options.recognisers.open(id, model, core.config, session.owner);
    this.#handle = handle;
    this.#released = handle.finished;
    this.#recognition.opened(handle.agreement);
    this.#listening = this.#listen(handle);
    void this.pump();
  }

  async #listen(handle: StreamHandle): Promise<void> {
    const recognition = this.#recognition;
    const { run } = this.options;
    try {
      for await (const event of handle.receiveEvents())
        run(() => recognition.heard(event, handle === this.#closing, performance.now()));
      recognition.closed();
    } catch (error) {
      if (handle === this.#handle) this.#lost(error as DomainError);
    }
  }

  #lost(error: DomainError): void {
    this.#handle = undefined;
    this.options.run(() => this.#recognition.lost(error));
  }
}

import { EventRing } from './event-ring.js';
import { type JournalStore } from './journal-store.js';
import {
  type AdoptedSession,
  type JournalAudio,
  type SentEvent,
  type SessionState,
} from './session-state.js';

/** A session as its journal sees it. */
export interface JournaledSession {
  readonly id: string;
  readonly state: SessionState;
  /** What a journal that begins in the middle of the session has to hold. */
  readonly past: Omit<AdoptedSession, 'state'>;
  /** Sends an event that is written. */
  deliver(event: SentEvent): void;
  /** Another gateway has it: this one must not send another event. */
  taken(): void;
}

/**
 * Audio without events is written this often; a client may have to send that much again.
 */
const AUDIO_EVERY_MS = 200;
const MAX_STORED_BYTES = 1_048_576;

/**
 * Stores in Redis what another gateway needs to continue a session. An event is sent when
 * it is written, together with the state that follows from it: what a client has received
 * is never sent again, and what it has not received is never lost.
 *
 * When Redis does not answer in time the session continues without a journal, and can be
 * resumed on its own gateway only. When Redis answers again the journal is written anew.
 */
export class SessionJournal {
  #events: SentEvent[] = [];
  #writing: readonly SentEvent[] = [];
  #audio: JournalAudio[] = [];
  readonly #storedAudio: { readonly end: number }[] = [];
  #stored = new EventRing(MAX_STORED_BYTES);
  #timer: NodeJS.Timeout | undefined;
  #busy: Promise<void> | undefined;
  /** `new`: the next write begins with all that the session has sent and heard. */
  #state: 'new' | 'kept' | 'off' = 'new';
  /** Redis may hold an earlier state of the session. */
  #stale = false;

  constructor(
    private readonly options: {
      readonly session: JournaledSession;
      readonly store: JournalStore;
      /** Redis failed: the session continues without a journal until `restart()`. */
      onLost(reason: string): void;
      /** @param stale Redis may still hold a state that must not be resumed */
      onEnd(stale: boolean): void;
    },
  ) {}

  /** What was adopted is in Redis already. */
  adopted({ events, audio }: AdoptedSession): void {
    this.#state = 'kept';
    for (const event of events) this.#stored.add(event);
    for (const { start, pcm } of audio) this.#storedAudio.push({ end: start + pcm.length });
  }

  /** Delivered in order, when it is written. */
  event(event: SentEvent): void {
    if (this.#state === 'off') return this.options.session.deliver(event);
    this.#events.push(event);
    this.#soon(0);
  }

  audio(audio: JournalAudio): void {
    if (this.#state === 'off') return;
    this.#audio.push(audio);
    this.#soon(AUDIO_EVERY_MS);
  }

  /** Resolves when all events so far have been sent. Never rejects. */
  async settled(): Promise<void> {
    while (this.#events.length > 0 || this.#busy) await (this.#busy ?? this.#flush());
  }

  /** The session ends here. @param keep another gateway may continue it */
  stop(keep: boolean): void {
    const written = this.#stale || this.#state === 'kept' || this.#busy !== undefined;
    this.#off();
    this.options.onEnd(this.#stale || (!keep && written));
  }

  /** Redis does not answer at the moment: nothing is written until `restart()`. */
  suspend(): void {
    this.#off();
  }

  /** Redis answers again. */
  restart(): void {
    this.#state = 'new';
    void this.#flush();
  }

  #soon(ms: number): void {
    if (this.#busy) return;
    if (ms > 0) this.#timer ??= setTimeout(() => void this.#flush(), ms);
    else if (this.#events.length === 1) setImmediate(() => void this.#flush());
  }

  #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const due = this.#state === 'new' || this.#events.length > 0 || this.#audio.length > 0;
    if (this.#state === 'off' || !due) return Promise.resolve();
    return (this.#busy ??= this.#write().finally(() => {
      this.#busy = undefined;
      if (this.#events.length > 0) void this.#flush();
      else if (this.#audio.length > 0) this.#soon(AUDIO_EVERY_MS);
    }));
  }

  /** The state is read in the same turn as the events and the audio it belongs to. */
  async #write(): Promise<void> {
    const { session, store } = this.options;
    const { id, state } = session;
    const first = this.#state === 'new';
    try {
      const write = { first, state, ...this.#next(first, state) };
      const outcome = await store.write(id, write);
      if (this.#state === 'off') return;
      if (outcome === 'taken') return this.#taken();
      if (outcome === 'gone') throw new Error('the journal is gone');
      this.#state = 'kept';
      this.#stale = false;
      this.#deliver();
    } catch (error) {
      this.#giveUp(error as Error);
    }
  }

  #next(first: boolean, state: SessionState) {
    const past = first ? this.#begin() : { events: [], audio: this.#audio };
    this.#writing = this.#events;
    [this.#events, this.#audio] = [[], []];
    const events = [...past.events, ...this.#writing];
    let dropEvents = 0;
    for (const event of events) dropEvents += this.#stored.add(event);
    const audio = joined(past.audio);
    if (audio) this.#storedAudio.push({ end: audio.start + audio.pcm.length });
    return { events, audio, dropEvents, dropAudio: this.#dropAudio(state) };
  }

  #begin(): JournaledSession['past'] {
    this.#stored = new EventRing(MAX_STORED_BYTES);
    this.#storedAudio.length = 0;
    return this.options.session.past;
  }

  #deliver(): void {
    const written = this.#writing;
    this.#writing = [];
    for (const event of written) this.options.session.deliver(event);
  }

  #taken(): void {
    this.#state = 'off';
    this.#writing = [];
    this.#events = [];
    this.options.session.taken();
  }

  /**
   * A journal with a hole would make another gateway send events twice: it is replaced as
   * soon as Redis is back.
   */
  #giveUp({ message }: Error): void {
    if (this.#state === 'off') return;
    this.#stale = true;
    this.#off();
    this.options.onLost(message);
  }

  /** Waiting events are sent now, later ones at once. */
  #off(): void {
    clearTimeout(this.#timer);
    this.#state = 'off';
    this.#writing = [...this.#writing, ...this.#events];
    [this.#events, this.#audio] = [[], []];
    this.#deliver();
  }

  #dropAudio({ input }: SessionState): number {
    const keepFrom = input.transcriber?.keepFrom ?? 0;
    const first = this.#storedAudio.findIndex(({ end }) => end > keepFrom);
    const dropped = first === -1 ? this.#storedAudio.length : first;
    this.#storedAudio.splice(0, dropped);
    return dropped;
  }
}

/** Pieces follow without a gap. */
function joined(audio: readonly JournalAudio[]): JournalAudio | undefined {
  const [first] = audio;
  return first && { start: first.start, pcm: Buffer.concat(audio.map(({ pcm }) => pcm)) };
}

import { type JournalStore } from './journal-store.js';
import {
  type AdoptedSession,
  type JournalAudio,
  type SessionState,
} from './session-state.js';

/** A session as its journal sees it. */
export interface JournaledSession {
  readonly id: string;
  readonly state: SessionState;
  /** What a journal that begins in the middle of the session has to hold. */
  readonly past: Omit<AdoptedSession, 'state'>;
  /** Another gateway has it: this one must not send another event. */
  taken(): void;
}

interface Waiting {
  readonly json: string;
  readonly deliver: () => void;
}

/**
 * Audio without events is written this often; a client may have to send that much again.
 */
const AUDIO_EVERY_MS = 200;
const MAX_STORED_EVENTS = 2000;
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
  #events: Waiting[] = [];
  #writing: readonly Waiting[] = [];
  #audio: JournalAudio[] = [];
  readonly #storedAudio: { readonly end: number }[] = [];
  readonly #storedEvents: number[] = [];
  #storedBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #busy: Promise<void> | undefined;
  #state: 'new' | 'kept' | 'off' = 'new';
  /** The next write begins with what was sent before. */
  #restarting = false;
  /** Redis may hold an earlier state of the session. */
  #stale = false;

  constructor(
    private readonly options: {
      readonly session: JournaledSession;
      /** Names this gateway. */
      readonly owner: string;
      readonly store: JournalStore;
      /** How long Redis stores a session after its last write. */
      readonly ttlMs: number;
      /** Redis failed: the session continues without a journal until `restart()`. */
      onLost(reason: string): void;
      /** @param stale Redis may still hold a state that must not be resumed */
      onEnd(stale: boolean): void;
    },
  ) {}

  /** What was adopted is in Redis already. */
  adopted({ events, audio }: AdoptedSession): void {
    this.#state = 'kept';
    for (const json of events) this.#keepEvent(json);
    for (const { start, pcm } of audio)
      this.#storedAudio.push({ end: start + pcm.length });
  }

  /** @param deliver called in order, when the event is written */
  event(json: string, deliver: () => void): void {
    if (this.#state === 'off') return deliver();
    this.#events.push({ json, deliver });
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
    this.#restarting = true;
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
    const due = this.#restarting || this.#events.length > 0 || this.#audio.length > 0;
    if (this.#state === 'off' || !due) return Promise.resolve();
    return (this.#busy ??= this.#write().finally(() => {
      this.#busy = undefined;
      if (this.#events.length > 0) void this.#flush();
      else if (this.#audio.length > 0) this.#soon(AUDIO_EVERY_MS);
    }));
  }

  /** The state is read in the same turn as the events and the audio it belongs to. */
  async #write(): Promise<void> {
    const { session, owner, store, ttlMs } = this.options;
    const { id, state } = session;
    const { events, audio } = this.#next();
    const drops = { dropEvents: this.#dropEvents(), dropAudio: this.#dropAudio(state) };
    try {
      const first = this.#state === 'new';
      const outcome = await store.write(id, {
        owner,
        first,
        ttlMs,
        state,
        events,
        audio,
        ...drops,
      });
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

  #next(): { events: readonly string[]; audio: JournalAudio | undefined } {
    const past = this.#restarting ? this.#begin() : { events: [], audio: this.#audio };
    this.#writing = this.#events;
    [this.#events, this.#audio] = [[], []];
    const events = [...past.events, ...this.#writing.map(({ json }) => json)];
    for (const json of events) this.#keepEvent(json);
    const audio = joined(past.audio);
    if (audio) this.#storedAudio.push({ end: audio.start + audio.pcm.length });
    return { events, audio };
  }

  #begin(): JournaledSession['past'] {
    this.#restarting = false;
    [this.#storedEvents.length, this.#storedAudio.length, this.#storedBytes] = [0, 0, 0];
    return this.options.session.past;
  }

  #deliver(): void {
    const written = this.#writing;
    this.#writing = [];
    for (const { deliver } of written) deliver();
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
    this.#restarting = false;
    const waiting = [...this.#writing, ...this.#events];
    [this.#writing, this.#events, this.#audio] = [[], [], []];
    for (const { deliver } of waiting) deliver();
  }

  #keepEvent(json: string): void {
    this.#storedEvents.push(json.length);
    this.#storedBytes += json.length;
  }

  #dropEvents(): number {
    let dropped = 0;
    while (
      this.#storedEvents.length > MAX_STORED_EVENTS ||
      this.#storedBytes > MAX_STORED_BYTES
    ) {
      this.#storedBytes -= this.#storedEvents.shift() ?? 0;
      dropped += 1;
    }
    return dropped;
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
  return (
    first && { start: first.start, pcm: Buffer.concat(audio.map(({ pcm }) => pcm)) }
  );
}

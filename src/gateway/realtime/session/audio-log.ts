import { type JournalAudio } from '../journal/session-state.js';

/** One thing that the recogniser gets. */
type LogEntry =
  | ({ readonly kind: 'audio' } & JournalAudio)
  | { readonly kind: 'commit'; readonly start: number }
  /** `reopen`: what follows is for a new stream; `end`: nothing follows. */
  | { readonly kind: 'reopen' | 'end' };

/** Entries that were sent are joined beyond that: the smallest frames cost much more than their bytes. */
const MOST_ENTRIES = 4096;
const PIECE_BYTES = 4096;

/**
 * What the recogniser gets, in order: first what the current worker has got since the
 * last completed segment, then what it gets next. Positions are bytes of PCM from the
 * start of the session.
 */
export class AudioLog {
  #entries: LogEntry[] = [];
  /** Entries that the current worker has got. */
  #sent = 0;
  #position = 0;

  /** Continues the log of another gateway, with the audio that it has stored. */
  restore(
    { position, keepFrom, commits }: AudioLog['state'],
    stored: readonly JournalAudio[],
  ): void {
    let from = keepFrom;
    for (const commit of [...commits, undefined]) {
      const to = commit ?? position;
      for (const { start, pcm } of stored) {
        const part = pcm.subarray(Math.max(0, from - start), Math.max(0, to - start));
        if (part.length > 0)
          this.#entries.push({ kind: 'audio', pcm: part, start: Math.max(start, from) });
      }
      if (commit !== undefined) this.#entries.push({ kind: 'commit', start: commit });
      from = Math.max(from, to);
    }
    this.#position = position;
  }

  /** As `SessionState` has it. */
  get state(): {
    readonly position: number;
    readonly keepFrom: number;
    readonly commits: readonly number[];
  } {
    return {
      position: this.#position,
      keepFrom: this.#audioFrom(0),
      commits: this.#entries.flatMap(entry => (entry.kind === 'commit' ? entry.start : [])),
    };
  }

  /** All audio since the last completed segment. */
  get audio(): readonly JournalAudio[] {
    return this.#entries.filter(entry => entry.kind === 'audio');
  }

  /** Bytes of audio accepted so far. */
  get position(): number {
    return this.#position;
  }

  /** Bytes of audio that no worker has taken yet. */
  get waitingBytes(): number {
    return this.#position - this.nextStart;
  }

  /** Where the audio that the worker gets next begins. */
  get nextStart(): number {
    return this.#audioFrom(this.#sent);
  }

  append(pcm: Buffer): JournalAudio {
    const audio = { kind: 'audio', pcm, start: this.#position } as const;
    this.#entries.push(audio);
    this.#position += pcm.length;
    return audio;
  }

  commit(): void {
    this.#entries.push({ kind: 'commit', start: this.#position });
  }

  order(kind: 'reopen' | 'end'): void {
    this.#entries.push({ kind });
  }

  /**
   * What the worker gets next.
   * @param keptBytes of audio for another worker at most; the oldest goes first
   */
  next(keptBytes: number): LogEntry | undefined {
    const entry = this.#entries[this.#sent];
    if (entry?.kind === 'reopen' || entry?.kind === 'end') this.#entries.splice(this.#sent, 1);
    else if (entry) this.#sent += 1;
    while (this.nextStart - this.#audioFrom(0) > keptBytes) this.#dropOldestAudio();
    if (this.#sent > MOST_ENTRIES) this.#joinSent();
    return entry;
  }

  #joinSent(): void {
    const waiting = this.#entries.splice(this.#sent);
    const joined = piecesOf(this.#entries);
    this.#sent = joined.length;
    this.#entries = [...joined, ...waiting];
  }

  /**
   * The segment that ends at `end` is complete: all that was sent before it is dropped.
   * @param commitsTo its commit may be that much later
   */
  completed(end: number, commitsTo = end): void {
    const from = 2 * Math.floor(end / 2);
    const waiting = this.#entries.splice(this.#sent);
    const kept: LogEntry[] = [];
    for (const entry of this.#entries) {
      if (entry.kind === 'commit' && entry.start > commitsTo) kept.push(entry);
      if (entry.kind !== 'audio') continue;
      const pcm = entry.pcm.subarray(Math.max(0, from - entry.start));
      if (pcm.length === 0) continue;
      kept.push({ kind: 'audio', pcm, start: Math.max(entry.start, from) });
    }
    this.#sent = kept.length;
    this.#entries = [...kept, ...waiting];
  }

  /** A new worker gets everything since the last completed segment. */
  rewind(): void {
    this.#sent = 0;
  }

  /** Where audio begins that entry `first` or a later one holds; pieces follow without a gap. */
  #audioFrom(first: number): number {
    for (let at = first; at < this.#entries.length; at += 1) {
      const entry = this.#entries[at]!;
      if (entry.kind === 'audio') return entry.start;
    }
    return this.#position;
  }

  #dropOldestAudio(): void {
    const at = this.#entries.findIndex(({ kind }) => kind === 'audio');
    this.#entries.splice(at, 1);
    this.#sent -= 1;
  }
}

/** The entries with audio joined into larger pieces. */
function piecesOf(entries: readonly LogEntry[]): LogEntry[] {
  const pieces: LogEntry[] = [];
  let open: (LogEntry & { readonly kind: 'audio' })[] = [];
  let bytes = 0;
  const close = (): void => {
    const [first] = open;
    if (first) pieces.push({ ...first, pcm: Buffer.concat(open.map(({ pcm }) => pcm)) });
    [open, bytes] = [[], 0];
  };
  for (const entry of entries) {
    if (entry.kind !== 'audio' || bytes + entry.pcm.length > PIECE_BYTES) close();
    if (entry.kind !== 'audio') pieces.push(entry);
    else {
      open.push(entry);
      bytes += entry.pcm.length;
    }
  }
  close();
  return pieces;
}

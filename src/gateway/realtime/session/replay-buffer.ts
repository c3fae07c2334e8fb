/** Something that was sent to the worker, at its position in the audio of the session. */
export type Utterance =
  | { readonly kind: 'audio'; readonly pcm: Buffer; readonly start: number }
  | { readonly kind: 'commit'; readonly start: number };

/**
 * A final's end may fall short of the commit it answers by what the resampler still
 * holds: some milliseconds.
 */
const COMMIT_TOLERANCE_S = 0.05;

/**
 * What a new worker gets when the old one dies: audio and commits since the last
 * completed segment, at most `maxSeconds` of audio, of which the oldest goes first.
 * Positions are bytes from the start of the session.
 */
export class ReplayBuffer {
  #entries: Utterance[] = [];
  #bytes = 0;

  /** @param bytesPerSecond of PCM s16le */
  constructor(
    private readonly bytesPerSecond: number,
    private readonly maxSeconds: number,
  ) {}

  /** Seconds of audio held. */
  get seconds(): number {
    return this.#bytes / this.bytesPerSecond;
  }

  entries(): readonly Utterance[] {
    return this.#entries;
  }

  audio(pcm: Buffer, start: number): void {
    this.#entries.push({ kind: 'audio', pcm, start });
    this.#bytes += pcm.length;
    while (this.seconds > this.maxSeconds) this.#dropOldestAudio();
  }

  commit(start: number): void {
    this.#entries.push({ kind: 'commit', start });
  }

  /**
   * The segment that ends at `endS` seconds of the session is complete: all before it is
   * dropped, with its commit.
   */
  completed(endS: number): void {
    const end = evenBytes(endS * this.bytesPerSecond);
    const done = end + COMMIT_TOLERANCE_S * this.bytesPerSecond;
    this.#entries = this.#entries.flatMap(entry => {
      if (entry.kind === 'commit') return entry.start <= done ? [] : [entry];
      return this.#tailOf(entry, end);
    });
    this.#bytes = this.#entries.reduce(
      (sum, entry) => sum + (entry.kind === 'audio' ? entry.pcm.length : 0),
      0,
    );
  }

  clear(): void {
    this.#entries = [];
    this.#bytes = 0;
  }

  #tailOf(entry: Extract<Utterance, { kind: 'audio' }>, from: number): Utterance[] {
    const { pcm, start } = entry;
    if (start >= from) return [entry];
    if (start + pcm.length <= from) return [];
    return [{ kind: 'audio', pcm: pcm.subarray(from - start), start: from }];
  }

  #dropOldestAudio(): void {
    const at = this.#entries.findIndex(({ kind }) => kind === 'audio');
    const [oldest] = this.#entries.splice(at, 1);
    if (oldest?.kind === 'audio') this.#bytes -= oldest.pcm.length;
  }
}

const evenBytes = (bytes: number): number => 2 * Math.floor(bytes / 2);

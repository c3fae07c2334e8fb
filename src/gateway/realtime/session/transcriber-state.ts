import { type Utterance } from './replay-buffer.js';

/**
 * Where the recognition of a session stands, besides the audio itself. Positions are
 * bytes of PCM from its start.
 */
export interface TranscriberState {
  /** Audio accepted so far. */
  readonly position: number;
  /** Utterances completed so far. */
  readonly finals: number;
  /** The first byte that a new worker needs. */
  readonly keepFrom: number;
  /** Commits that are not answered yet. */
  readonly commits: readonly number[];
}

/** What another gateway continues from. */
export interface RestoredTranscriber extends Pick<
  TranscriberState,
  'position' | 'finals'
> {
  /** To be sent first. */
  readonly entries: readonly Utterance[];
}

type Entry = Utterance | { readonly kind: 'reopen' | 'end' };

/**
 * @param queues what a worker got since the last completed segment, and what it gets
 *   next, in order
 */
export function transcriberState(
  queues: readonly (readonly Entry[])[],
  known: Pick<TranscriberState, 'position' | 'finals'>,
): TranscriberState {
  let keepFrom: number | undefined;
  const commits: number[] = [];
  for (const queue of queues)
    for (const entry of queue)
      if (entry.kind === 'commit') commits.push(entry.start);
      else if (entry.kind === 'audio') keepFrom ??= entry.start;
  return { ...known, keepFrom: keepFrom ?? known.position, commits };
}

/**
 * The same as entries to send: audio from `keepFrom` on, and each commit at its position.
 */
export function restoredEntries(
  { keepFrom, position, commits }: TranscriberState,
  audio: readonly { readonly start: number; readonly pcm: Buffer }[],
): Utterance[] {
  const cuts = [...commits].sort((a, b) => a - b);
  const entries: Utterance[] = [];
  for (const { start, pcm } of audio) {
    const to = Math.min(start + pcm.length, position);
    let at = Math.max(start, keepFrom);
    while (cuts.length > 0 && cuts[0]! <= to) {
      const cut = cuts.shift()!;
      if (cut > at)
        entries.push({
          kind: 'audio',
          pcm: pcm.subarray(at - start, cut - start),
          start: at,
        });
      entries.push({ kind: 'commit', start: cut });
      at = Math.max(at, cut);
    }
    if (to > at)
      entries.push({
        kind: 'audio',
        pcm: pcm.subarray(at - start, to - start),
        start: at,
      });
  }
  return [...entries, ...cuts.map(start => ({ kind: 'commit', start }) as const)];
}

import { type Playback } from './playback.js';

/** A part of an answer that is spoken in one engine call. Those of one answer go in order. */
export interface Sentence {
  /** Undefined: nobody hears the answer while it is made. */
  readonly playback: Playback | undefined;
  /** What it is expected to take on the device, and how long it is expected to sound. */
  readonly deviceMs: number;
  readonly audioMs: number;
}

/** Factor on the expected times of sentences, because actual ones differ. */
const MARGIN = 1.2;

/**
 * First audio first: the first sentence of everybody goes before the second of anybody, in
 * the order of arrival, then the sentence at which playback arrives first, then answers
 * that nobody hears. An answer waits with its first sentence while, with it, not all that
 * play could go on without a pause, itself included; when none plays, it goes.
 * @param waiting in the order of arrival
 */
export function nextSentence<S extends Sentence>(
  waiting: Iterable<S>,
  nowMs: number,
): S | undefined {
  const answers = new Map<Playback | undefined, S[]>();
  for (const sentence of waiting) {
    const { playback } = sentence;
    const answer = answers.get(playback);
    if (answer) answer.push(sentence);
    else answers.set(playback, [sentence]);
  }
  const unheard = answers.get(undefined);
  answers.delete(undefined);
  const all = [...answers.values()];
  const playing = all.filter(([first]) => first!.playback!.playedAtMs !== undefined);
  const fresh = all.find(([first]) => first!.playback!.playedAtMs === undefined);
  if (fresh && (playing.length === 0 || keepTime(playing, fresh, nowMs))) return fresh[0];
  const [urgent] = playing.sort(([a], [b]) => dueMs(a!) - dueMs(b!));
  return (urgent ?? unheard)?.[0];
}

const dueMs = ({ playback }: Sentence): number => playback?.playedAtMs ?? Infinity;

/**
 * True when every sentence would be made before playback arrives at it, if `fresh` began now
 * and the others followed in the order of these times.
 */
function keepTime(
  playing: readonly (readonly Sentence[])[],
  fresh: readonly Sentence[],
  nowMs: number,
): boolean {
  const [first, ...rest] = fresh;
  let doneMs = nowMs + MARGIN * first!.deviceMs;
  const due = [
    ...playing.flatMap(answer => dueTimes(answer, dueMs(answer[0]!))),
    ...dueTimes(rest, doneMs + first!.audioMs),
  ].sort((a, b) => a.dueMs - b.dueMs);
  return due.every(sentence => (doneMs += MARGIN * sentence.deviceMs) <= sentence.dueMs);
}

function dueTimes(answer: readonly Sentence[], fromMs: number) {
  let at = fromMs;
  return answer.map(({ deviceMs, audioMs }) => {
    const time = { deviceMs, dueMs: at };
    at += audioMs;
    return time;
  });
}

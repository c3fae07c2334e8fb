import { SpeechPace } from '../../../../src/core/latency/speech-pace.js';
import { Playback } from '../../../../src/core/order/playback.js';
import { nextSentence, type Sentence } from '../../../../src/core/order/sentence-order.js';
import { distribution, type Distribution } from '../percentiles.js';
import { exponential, seededRandom, type RandomSource } from '../seeded-random.js';

/** A Piper voice on two cores. */
const VOICE = { audioMs: 62, deviceMs: 2.5, callMs: 25 };
/** Of one answer, at most; 60 characters each on average. */
const MOST_SENTENCES = 12;
/** By which sentences of one length differ. */
const SPREAD = 0.3;

interface Spoken extends Sentence {
  readonly answer: Answer;
  readonly characters: number;
  readonly tookMs: number;
  readonly soundsMs: number;
}

interface Answer {
  readonly atMs: number;
  readonly playback: Playback;
  readonly isHeard: boolean;
  readonly sentences: { readonly characters: number; tookMs: number; soundsMs: number }[];
  firstMs?: number;
  doneMs?: number;
}

/** `first in, first out`: whole answers; `in turns`: a sentence of each. */
export type SpeechOrder = 'first audio first' | 'first in, first out' | 'in turns';

export interface SpeechReport {
  readonly answers: number;
  /** From the request to its first audio, of those who listen. */
  readonly firstMs: Distribution;
  /** From the request to its end, of those who do not. */
  readonly fileMs: Distribution;
  /** Share of the listeners whose audio came later than its playback, by 20 ms or more. */
  readonly stutter: number;
  readonly busy: number;
}

/**
 * People who listen, and programs that want a file, ask one voice.
 * @param load of the device. @param files share of those who do not listen
 */
export function speechLoad(
  order: SpeechOrder,
  { load = 0.8, files = 0, seconds = 3600, seed = 1 } = {},
): SpeechReport {
  const answers = drawAnswers(load, files, seconds * 1000, seededRandom(seed));
  const device = new SpeakingDevice(order, answers);
  while (device.step());
  const heard = answers.filter(({ isHeard }) => isHeard);
  const unheard = answers.filter(({ isHeard }) => !isHeard);
  return {
    answers: answers.length,
    firstMs: distribution(heard.map(({ atMs, firstMs }) => firstMs! - atMs)),
    fileMs: distribution(unheard.map(({ atMs, doneMs }) => doneMs! - atMs)),
    stutter: heard.filter(({ playback }) => playback.lateMs >= 20).length / heard.length,
    busy: device.busyMs / device.nowMs,
  };
}

function drawAnswers(load: number, files: number, forMs: number, random: RandomSource): Answer[] {
  const meanMs = ((MOST_SENTENCES + 1) / 2) * (VOICE.callMs + 60 * VOICE.deviceMs);
  const answers: Answer[] = [];
  const gapMs = meanMs / load;
  for (let atMs = exponential(random, gapMs); atMs < forMs; atMs += exponential(random, gapMs)) {
    const count = 1 + Math.floor(MOST_SENTENCES * random());
    const sentences = Array.from({ length: count }, () => {
      const characters = 20 + Math.floor(80 * random());
      const vary = 1 - SPREAD + 2 * SPREAD * random();
      const tookMs = (VOICE.callMs + characters * VOICE.deviceMs) * vary;
      return { characters, tookMs, soundsMs: characters * VOICE.audioMs * vary };
    });
    answers.push({ atMs, playback: new Playback(), isHeard: random() >= files, sentences });
  }
  return answers;
}

/** One device and what waits for it, in virtual time. */
class SpeakingDevice {
  readonly #pace = new SpeechPace();
  readonly #waiting = new Set<Spoken>();
  #next = 0;
  #turn: Answer[] = [];
  nowMs = 0;
  busyMs = 0;

  constructor(
    private readonly order: SpeechOrder,
    private readonly answers: readonly Answer[],
  ) {}

  /** One sentence. @returns false when nothing is left */
  step(): boolean {
    if (this.#waiting.size === 0) {
      const next = this.answers[this.#next];
      if (!next) return false;
      this.nowMs = Math.max(this.nowMs, next.atMs);
    }
    this.#arrive();
    this.#speak(this.#choose());
    return true;
  }

  #arrive(): void {
    for (; (this.answers[this.#next]?.atMs ?? Infinity) <= this.nowMs; this.#next += 1) {
      const answer = this.answers[this.#next]!;
      const playback = answer.isHeard ? answer.playback : undefined;
      for (const sentence of answer.sentences) {
        const expected = this.#pace.expected(sentence.characters);
        this.#waiting.add({ ...sentence, ...expected, answer, playback });
      }
    }
  }

  #choose(): Spoken {
    const [oldest] = this.#waiting;
    if (this.order === 'first audio first') return nextSentence(this.#waiting, this.nowMs)!;
    if (this.order === 'first in, first out') return oldest!;
    const answers = [...new Set([...this.#waiting].map(({ answer }) => answer))];
    const turn = answers.find(answer => !this.#turn.includes(answer));
    this.#turn = turn ? [...this.#turn, turn] : [answers[0]!];
    return [...this.#waiting].find(({ answer }) => answer === this.#turn.at(-1))!;
  }

  #speak(sentence: Spoken): void {
    const { answer, characters, tookMs, soundsMs } = sentence;
    this.#waiting.delete(sentence);
    this.nowMs += tookMs;
    this.busyMs += tookMs;
    this.#pace.observe(characters, tookMs, soundsMs);
    answer.playback.made(soundsMs, this.nowMs);
    answer.firstMs ??= this.nowMs;
    answer.doneMs = this.nowMs;
  }
}

export const describeSpeech = (name: string, report: SpeechReport): string =>
  `  ${name.padEnd(24)} ${report.answers} answers: first audio p95 ${report.firstMs.p95} ms, ` +
  `p99 ${report.firstMs.p99}; files p95 ${report.fileMs.p95} ms; ` +
  `stutter ${(100 * report.stutter).toFixed(2)} %; device ${(100 * report.busy).toFixed(1)} % busy`;

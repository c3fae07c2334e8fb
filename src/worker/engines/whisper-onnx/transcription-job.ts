import { compressionRatio } from '../../../contracts/formats/compression-ratio.js';
import { type TokenLogprob, type TranscriptWord } from '../../../contracts/formats/transcript.js';
import { type RecognizedSegment, type RecognizedTranscript } from '../speech-recognizer.js';
import { CancelFlag } from '../threads/thread-protocol.js';
import { FRAMES_PER_POSITION } from './model-files.js';
import { type WhisperJob } from './protocol.js';
import { type WhisperVocabulary } from './vocabulary.js';
import { type AlignedWord } from './word-alignment.js';

/** One window decoded once, at one temperature. */
export interface WindowResult {
  /** Text and times, without the end. */
  readonly tokens: readonly number[];
  /** ln probability of each of `tokens`. */
  readonly logprobs: readonly number[];
  readonly text: string;
  readonly temperature: number;
  readonly avgLogprob: number;
  readonly noSpeechProb: number;
}

/** Thresholds of OpenAI's reference (whisper/transcribe.py). */
const MOST_COMPRESSION = 2.4;
const LEAST_LOGPROB = -1;
const MOST_NO_SPEECH = 0.6;
/** Tried in turn when the caller leaves the temperature at 0. */
const TEMPERATURES = [0, 0.2, 0.4, 0.6, 0.8, 1];

/** The temperatures to try for a request: the ladder for 0, else the one asked for. */
export function temperatureLadder(temperature: number): readonly number[] {
  return temperature === 0 ? TEMPERATURES : [temperature];
}

/**
 * Repeats itself, or is unsure of itself, and does not look like silence: worth another try at a higher temperature.
 */
export function needsAnotherTry(result: WindowResult): boolean {
  if (isSilence(result)) return false;
  return compressionRatio(result.text.trim()) > MOST_COMPRESSION || result.avgLogprob < LEAST_LOGPROB;
}

/** Probably no speech, and the text was a guess: the window is skipped. */
export function isSilence({ noSpeechProb, avgLogprob }: WindowResult): boolean {
  return noSpeechProb > MOST_NO_SPEECH && avgLogprob < LEAST_LOGPROB;
}

/** A piece of a window between two times. */
interface WindowSegment {
  /** Encoder positions (0.02 s) from the start of the window. */
  readonly from: number;
  readonly to: number;
  /** Index range in the window's tokens. */
  readonly first: number;
  readonly end: number;
}

interface WindowCut {
  readonly segments: readonly WindowSegment[];
  /** Encoder positions to move on by: to the last complete segment's end, or over the whole window. */
  readonly advance: number;
}

/**
 * Cuts a window's tokens at pairs of times, as OpenAI's reference does (whisper/transcribe.py). An unfinished last
 * piece is left to the next window, unless it is the only one.
 */
export function cutWindow(tokens: readonly number[], firstTime: number, positions: number): WindowCut {
  const isTime = (index: number): boolean => (tokens[index] ?? -1) >= firstTime;
  const place = (index: number): number => tokens[index]! - firstTime;
  const cuts = tokens.flatMap((_, i) => (i > 0 && isTime(i - 1) && isTime(i) ? [i] : []));
  const singleTimeEnds = tokens.length > 0 && isTime(tokens.length - 1) && !isTime(tokens.length - 2);
  if (cuts.length === 0) return { segments: [wholeWindow(tokens, firstTime, positions)], advance: positions };
  if (singleTimeEnds) cuts.push(tokens.length);
  const segments = cuts.map((end, i) => {
    const first = cuts[i - 1] ?? 0;
    return { first, end, from: isTime(first) ? place(first) : 0, to: place(end - 1) };
  });
  const advance = singleTimeEnds ? positions : segments.at(-1)!.to;
  // A time of 0 would stand still for ever.
  return { segments, advance: advance > 0 ? Math.min(advance, positions) : positions };
}

function wholeWindow(tokens: readonly number[], firstTime: number, positions: number): WindowSegment {
  const last = tokens.findLast(token => token >= firstTime);
  const to = last !== undefined && last !== firstTime ? last - firstTime : positions;
  return { first: 0, end: tokens.length, from: 0, to };
}

/**
 * Segments with their times inside the audio, which is `positions` long. Text at times beyond its end belongs to the
 * segment before, or to the window as a whole: a segment without length would lose it.
 */
export function withinAudio(segments: readonly WindowSegment[], positions: number): WindowSegment[] {
  const kept: WindowSegment[] = [];
  for (const segment of segments) {
    const last = kept.at(-1);
    const to = Math.min(segment.to, positions);
    if (segment.from < positions) kept.push({ ...segment, to });
    else if (last === undefined) kept.push({ ...segment, from: 0, to });
    else kept[kept.length - 1] = { ...last, to, end: segment.end };
  }
  return kept;
}

export interface JobRules {
  readonly vocabulary: WhisperVocabulary;
  readonly windowFrames: number;
  readonly positions: number;
  readonly conditionOnPreviousText: boolean;
}

type SegmentSink = (segment: RecognizedSegment, words: readonly TranscriptWord[]) => void;

/** Seconds per encoder position. */
const POSITION_S = 0.02;
/** Text decoded hotter than this is no example for the next window. */
const HOTTEST_EXAMPLE = 0.5;

/**
 * One audio from window to window, as OpenAI's reference walks it (whisper/transcribe.py): the next window starts where
 * the last complete segment ended, and is told the text before it.
 */
export class JobRun {
  readonly cancel: CancelFlag;
  language: string;
  readonly #segments: RecognizedSegment[] = [];
  readonly #words: TranscriptWord[] = [];
  readonly #logprobs: TokenLogprob[] = [];
  readonly #hotWords: readonly number[];
  #text = '';
  /** What the next window is told: the caller's prompt, then the text so far. */
  #before: number[];
  #seek = 0;

  constructor(
    readonly request: WhisperJob,
    readonly arrivalMs: number,
    private readonly rules: JobRules,
    private readonly onSegment: SegmentSink,
  ) {
    const { vocabulary } = rules;
    this.cancel = new CancelFlag(request.cancel);
    this.language = request.language || (vocabulary.multilingual ? '' : 'en');
    this.#hotWords = encodeText(vocabulary, request.hotWords.join(', '));
    this.#before = encodeText(vocabulary, request.prompt);
  }

  get done(): boolean {
    return this.#seek >= this.request.mel.contentFrames;
  }

  /** Mel frame that the next window starts at. */
  get seek(): number {
    return this.#seek;
  }

  /** `<|startofprev|>`, hot words and the newest of the text before, then the start sequence. */
  prompt(): number[] {
    const { vocabulary, positions } = this.rules;
    const start = vocabulary.startSequence(this.language, this.request.task);
    const most = Math.floor(positions / 2) - 1;
    const hot = this.#hotWords.slice(0, most);
    const before = most > hot.length ? this.#before.slice(-(most - hot.length)) : [];
    if (vocabulary.startOfPrevious === undefined || hot.length + before.length === 0) return start;
    return [vocabulary.startOfPrevious, ...hot, ...before, ...start];
  }

  /** Encoder positions of the window at `seek` that are audio and not padding. */
  get positionsLeft(): number {
    const frames = Math.min(this.rules.windowFrames, this.request.mel.contentFrames - this.#seek);
    return Math.ceil(frames / FRAMES_PER_POSITION);
  }

  accept(result: WindowResult, words: readonly AlignedWord[]): void {
    const positions = this.positionsLeft;
    if (isSilence(result)) return this.#move(positions);
    const { segments, advance } = cutWindow(result.tokens, this.rules.vocabulary.firstTime, positions);
    const offsetS = this.#seek / 100;
    const kept = withinAudio(segments, positions).filter(segment => this.#add(segment, result, { offsetS, words }));
    this.#remember(
      kept.flatMap(({ first, end }) => result.tokens.slice(first, end)),
      result.temperature,
    );
    this.#move(advance);
  }

  transcript(): RecognizedTranscript {
    return {
      text: this.#text.trim(),
      language: this.language,
      segments: this.#segments,
      words: this.#words,
      ...(this.request.logprobs ? { logprobs: this.#logprobs } : {}),
    };
  }

  #move(positions: number): void {
    this.#seek += Math.max(1, positions) * FRAMES_PER_POSITION;
  }

  #remember(tokens: readonly number[], temperature: number): void {
    const example = this.rules.conditionOnPreviousText && temperature <= HOTTEST_EXAMPLE;
    this.#before = example ? [...this.#before, ...tokens] : [];
  }

  /** False: it has no text or no length, and is left out. */
  #add(
    segment: WindowSegment,
    result: WindowResult,
    { offsetS, words }: { readonly offsetS: number; readonly words: readonly AlignedWord[] },
  ): boolean {
    const { vocabulary } = this.rules;
    const tokens = result.tokens.slice(segment.first, segment.end);
    const text = vocabulary.decode(tokens);
    if (text.trim() === '' || segment.to <= segment.from) return false;
    const [start, end] = [segment.from, segment.to].map(position => this.#time(offsetS + position * POSITION_S));
    const made: RecognizedSegment = {
      ...{ start: start!, end: end!, text: text.trim(), tokens, temperature: result.temperature },
      avgLogprob: round(result.avgLogprob),
      noSpeechProb: round(result.noSpeechProb),
      compressionRatio: compressionRatio(result.text.trim()),
    };
    const own = words
      .filter(({ token }) => token >= segment.first && token < segment.end)
      .map(word => this.#word(word, offsetS, made));
    this.#text += text;
    this.#segments.push(made);
    this.#words.push(...own);
    this.#logprobs.push(...this.#textLogprobs(segment, result));
    this.onSegment(made, own);
    return true;
  }

  /**
   * Inside its segment and after the word before: the alignment is finer than the model's own times, and may cross
   * them.
   */
  #word({ text, from, to, probability }: AlignedWord, offsetS: number, segment: RecognizedSegment): TranscriptWord {
    const inside = (position: number): number =>
      Math.min(segment.end, Math.max(segment.start, this.#time(offsetS + position * POSITION_S)));
    return { word: text, start: inside(from), end: inside(to), confidence: round(probability) };
  }

  #textLogprobs({ first, end }: WindowSegment, { tokens, logprobs }: WindowResult): TokenLogprob[] {
    const { vocabulary } = this.rules;
    const indexes = tokens.map((_, i) => i).slice(first, end);
    return indexes
      .filter(i => vocabulary.isText(tokens[i]!))
      .map(i => ({
        token: vocabulary.decode([tokens[i]!]),
        logprob: logprobs[i]!,
        bytes: vocabulary.bytesOf(tokens[i]!),
      }));
  }

  #time(seconds: number): number {
    return round(Math.min(seconds, this.request.durationS));
  }
}

function encodeText(vocabulary: WhisperVocabulary, text: string): number[] {
  return text.trim() === '' ? [] : vocabulary.encode(` ${text.trim()}`);
}

const round = (value: number): number => Math.round(value * 1e4) / 1e4 + 0;

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesOf } from '@switchyard/engine-api/audio/pcm.js';
import {
  KIND_CAPABILITIES,
  TRANSCRIPT_CAPABILITIES,
  type ItemOutcome,
} from '@switchyard/engine-api/engine.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import {
  type PreparedAudio,
  type RecognizedSegment,
  type RecognizedTranscript,
  type RecognizerEvent,
  type RecognizerStream,
  type RecognizerStreamOptions,
  type SpeechRecognizer,
  type TranscribeItem,
  type TokenLogprob,
  type TranscriptWord,
} from '@switchyard/engine-api/speech-recognizer.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { outcomesOf, strike, SyntheticEngine } from './device.js';
import { type ScriptedFault, type SyntheticOptions } from './options.js';

const RATE = 16_000;
/** Enough to tell inputs apart, little enough to cost nothing at 25 MB. */
const HASHED_BYTES = 65_536;

/**
 * Says what it is, and depends on all it was given: "synthetic transcript 1f3a9c02 5
 * bytes". Empty audio: no text.
 */
export function syntheticText(bytes: Uint8Array, conditions: readonly string[] = []): string {
  if (bytes.length === 0) return '';
  const hash = createHash('sha256')
    .update(bytes.subarray(0, HASHED_BYTES))
    .update(writeJson(conditions));
  return `synthetic transcript ${hash.digest('hex').slice(0, 8)} ${bytes.length} bytes`;
}

/**
 * A live stream of synthetic text: a partial for every push, a final for every commit. A
 * scripted fault strikes the push that completes its marker in an utterance.
 */
class SyntheticStream implements RecognizerStream {
  #bytes = Buffer.alloc(0);
  #utterance = 0;
  /** Seconds of the stream before this utterance. */
  #start = 0;
  #lingerMs = 0;
  #closed: Promise<void> | undefined;

  constructor(
    private readonly options: {
      readonly partials: boolean;
      /** What the text depends on besides the audio. */
      readonly conditions: readonly string[];
      readonly faults: readonly ScriptedFault[];
      /** Releases its place for a stream. */
      release(): void;
    },
  ) {}

  async push(samples: Int16Array): Promise<readonly RecognizerEvent[]> {
    if (this.#closed) return closed();
    const heard = this.#bytes.length;
    this.#bytes = Buffer.concat([this.#bytes, bytesOf(samples)]);
    await this.#suffer(heard);
    const text = this.#text();
    return this.options.partials && text
      ? [{ type: 'partial', utterance: this.#utterance, text }]
      : [];
  }

  commit(): Promise<readonly RecognizerEvent[]> {
    if (this.#closed) return closed();
    const start = this.#start;
    const end = start + this.#bytes.length / 2 / RATE;
    const text = this.#text();
    const words = evenlySpread(text, start, end);
    this.#start = end;
    this.#bytes = Buffer.alloc(0);
    return Promise.resolve([
      { type: 'final', utterance: this.#utterance++, text, start, end, words },
    ]);
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    if (this.#lingerMs > 0) await sleep(this.#lingerMs);
    this.options.release();
  }

  #text(): string {
    return syntheticText(this.#bytes, this.options.conditions);
  }

  async #suffer(heardBytes: number): Promise<void> {
    const completes = ({ marker }: ScriptedFault) =>
      this.#bytes.includes(marker, Math.max(0, heardBytes - Buffer.byteLength(marker) + 1));
    const fault = this.options.faults.find(completes);
    strike(fault);
    if (fault?.action === 'linger') this.#lingerMs = fault.ms;
    if (fault?.action === 'slow') await sleep(fault.ms);
    if (fault?.action === 'hang') await new Promise<never>(() => undefined);
  }
}

function closed(): Promise<never> {
  return Promise.reject(new DomainError('engine_failed', 'The stream is closed.'));
}

/**
 * A recogniser with no model: scripted cost and faults, deterministic text that depends
 * on all it was asked.
 */
export class SyntheticRecognizer extends SyntheticEngine implements SpeechRecognizer {
  readonly kind = 'stt';
  readonly input: SyntheticOptions['input'];
  #openStreams = 0;

  constructor(options: SyntheticOptions) {
    const { streams } = options;
    super(options, {
      streams,
      capabilities: streams > 0 ? KIND_CAPABILITIES.stt : TRANSCRIPT_CAPABILITIES,
    });
    this.input = options.input;
  }

  async prepare(_audio: PreparedAudio, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.options.prepareMs > 0) await sleep(this.options.prepareMs, undefined, { signal });
  }

  async transcribe(
    batch: readonly TranscribeItem[],
  ): Promise<readonly ItemOutcome<RecognizedTranscript>[]> {
    const call = this.device(batch, contentOf);
    // Made up while the device works, so that the call costs what the script says
    // and no more.
    const transcripts = batch.map(transcriptOf);
    return outcomesOf(await call, at => transcripts[at]!);
  }

  openStream(options: RecognizerStreamOptions): Promise<RecognizerStream> {
    if (this.#openStreams >= this.options.streams) {
      const message = `All ${this.options.streams} live streams of this worker are in use.`;
      return Promise.reject(new DomainError('queue_full', message));
    }
    this.#openStreams++;
    const { partials, prompt = '' } = options;
    const conditions = prompt === '' ? [] : [prompt];
    const { faults } = this.options;
    const stream = new SyntheticStream({
      partials,
      conditions,
      faults,
      release: () => this.#openStreams--,
    });
    return Promise.resolve(stream);
  }
}

const LOGPROB = -0.1;
const TURN_WORDS = 2;

/** A text that changes with everything that would change a real model's answer. */
function transcriptOf(item: TranscribeItem): RecognizedTranscript {
  const { task, language, prompt, temperature, hotWords = [], knownSpeakers = [] } = item;
  const { durationS } = item.audio;
  const voices = knownSpeakers.map(({ name, samples }) => `${name} ${samples.length} samples`);
  const conditions = [task, language, prompt, String(temperature), ...hotWords];
  const text = syntheticText(contentOf(item), [...conditions, ...voices]);
  const words = evenlySpread(text, 0, durationS);
  const whole = { start: 0, end: durationS, text, avgLogprob: LOGPROB, noSpeechProb: 0 };
  const speakers = speakersOf(knownSpeakers.map(({ name }) => name));
  return {
    text,
    language: 'en',
    segments: text === '' ? [] : item.diarize ? turnsOf(words, speakers) : [whole],
    words: item.wordTimestamps ? words : [],
    ...(item.logprobs && {
      logprobs: words.map(({ word }, i) => tokenOf(i === 0 ? word : ` ${word}`)),
    }),
  };
}

/** Two words each in turn. */
function turnsOf(
  words: readonly TranscriptWord[],
  speakers: readonly string[],
): RecognizedSegment[] {
  return Array.from({ length: Math.ceil(words.length / TURN_WORDS) }, (_, turn) => {
    const said = words.slice(turn * TURN_WORDS, (turn + 1) * TURN_WORDS);
    return {
      start: said[0]!.start,
      end: said.at(-1)!.end,
      text: said.map(({ word }) => word).join(' '),
      avgLogprob: LOGPROB,
      noSpeechProb: 0,
      speaker: speakers[turn % speakers.length]!,
    };
  });
}

const tokenOf = (token: string): TokenLogprob => ({
  token,
  logprob: LOGPROB,
  bytes: Buffer.from(token),
});

/** The speakers that take turns: the known ones, and one or two unknown ones. */
const speakersOf = (known: readonly string[]): readonly string[] =>
  known.length === 0 ? ['A', 'B'] : known.length === 1 ? [...known, 'A'] : known;

function contentOf({ audio }: TranscribeItem): Uint8Array {
  return audio.kind === 'encoded' ? audio.bytes : bytesOf(audio.samples);
}

/** The words of the text, each with an equal part of the time. Seconds. */
function evenlySpread(text: string, start: number, end: number): TranscriptWord[] {
  const words = text === '' ? [] : text.split(' ');
  const each = (end - start) / Math.max(1, words.length);
  return words.map((word, i) => ({
    word,
    start: start + i * each,
    end: start + (i + 1) * each,
    confidence: 0.9,
  }));
}

import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../../core/errors/domain-error.js';
import {
  cancelledError,
  type EngineCapability,
  failed,
  type ItemOutcome,
  succeeded,
} from '@switchyard/engine-api/engine.js';
import { type RecognizerEvent } from '@switchyard/engine-api/speech-recognizer.js';
import {
  type PreparedAudio,
  type RecognizerStream,
  type RecognizerStreamOptions,
  type SpeechRecognizer,
  type TranscribeItem,
  type RecognizedTranscript,
} from '@switchyard/engine-api/speech-recognizer.js';
import { SyntheticEngine } from './device.js';
import { type ScriptedFault, type SyntheticOptions } from './options.js';
import { evenlySpread, syntheticText, syntheticTranscript } from './text.js';

const RATE = 16_000;

export interface SyntheticStreamOptions {
  readonly partials: boolean;
  /** What the text depends on besides the audio. */
  readonly conditions: readonly string[];
  readonly faults: readonly ScriptedFault[];
  /** Its place is free. */
  release(): void;
}

/**
 * A live stream of synthetic text: a partial for every push, a final for every commit. A
 * scripted fault strikes the push that completes its marker in an utterance.
 */
export class SyntheticStream implements RecognizerStream {
  #bytes = Buffer.alloc(0);
  #utterance = 0;
  /** Seconds of the stream before this utterance. */
  #start = 0;
  #lingerMs = 0;
  #closed: Promise<void> | undefined;

  constructor(private readonly options: SyntheticStreamOptions) {}

  async push(samples: Int16Array): Promise<readonly RecognizerEvent[]> {
    if (this.#closed) return closed();
    const heard = this.#bytes.length;
    this.#bytes = Buffer.concat([
      this.#bytes,
      Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength),
    ]);
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
      this.#bytes.includes(
        marker,
        Math.max(0, heardBytes - Buffer.byteLength(marker) + 1),
      );
    const fault = this.options.faults.find(completes);
    if (fault?.action === 'fail')
      throw new DomainError('engine_failed', `Scripted fault '${fault.marker}'.`);
    if (fault?.action === 'linger') this.#lingerMs = fault.ms;
    if (fault?.action === 'slow') await sleep(fault.ms);
    if (fault?.action === 'hang') await new Promise<never>(() => undefined);
    if (fault?.action === 'crash') process.kill(process.pid, 'SIGKILL');
  }
}

function closed(): Promise<never> {
  return Promise.reject(new DomainError('engine_failed', 'The stream is closed.'));
}

/** All that a transcript can be asked for. */
const CAPABILITIES: readonly EngineCapability[] = [
  ...(['transcribe', 'translate', 'word_timestamps', 'prompt', 'temperature'] as const),
  ...(['hot_words', 'logprobs', 'diarize'] as const),
];

/**
 * A recogniser with no model: scripted cost and faults, deterministic text that depends
 * on all it was asked.
 */
export class SyntheticRecognizer extends SyntheticEngine implements SpeechRecognizer {
  readonly kind = 'stt';
  readonly input: SyntheticOptions['input'];
  #openStreams = 0;

  constructor(options: SyntheticOptions, crash?: () => void) {
    const { streams } = options;
    super(
      options,
      { streams, capabilities: streams > 0 ? [...CAPABILITIES, 'stream'] : CAPABILITIES },
      crash,
    );
    this.input = options.input;
  }

  async prepare(_audio: PreparedAudio, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.options.prepareMs > 0)
      await sleep(this.options.prepareMs, undefined, { signal });
  }

  async transcribe(
    batch: readonly TranscribeItem[],
  ): Promise<readonly ItemOutcome<RecognizedTranscript>[]> {
    if (batch.every(({ signal }) => signal.aborted))
      return batch.map(item => failed(cancelledError(item.requestId)));
    const items = batch.map(item => ({
      signal: item.signal,
      content: contentOf(item.audio),
    }));
    const call = this.device.run(items);
    // Made up while the device works, so that the call costs what the script says
    // and no more.
    const transcripts = batch.map(transcriptOf);
    const { faults } = await call;
    return batch.map((item, i) => outcome(item, transcripts[i]!, faults[i]));
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

function outcome(
  item: TranscribeItem,
  transcript: RecognizedTranscript,
  fault: ScriptedFault | undefined,
): ItemOutcome<RecognizedTranscript> {
  if (item.signal.aborted) return failed(cancelledError(item.requestId));
  if (fault?.action === 'fail')
    return failed(new DomainError('engine_failed', `Scripted fault '${fault.marker}'.`));
  return succeeded(transcript);
}

function transcriptOf(item: TranscribeItem): RecognizedTranscript {
  const { wordTimestamps, logprobs = false, diarize = false, knownSpeakers = [] } = item;
  return syntheticTranscript({
    bytes: contentOf(item.audio),
    durationS: item.audio.durationS,
    conditions: conditionsOf(item),
    wordTimestamps,
    logprobs,
    speakers: diarize ? speakersOf(knownSpeakers.map(({ name }) => name)) : [],
  });
}

function conditionsOf({
  task,
  language,
  prompt,
  temperature,
  hotWords = [],
  knownSpeakers = [],
}: TranscribeItem) {
  const voices = knownSpeakers.map(
    ({ name, samples }) => `${name} ${samples.length} samples`,
  );
  return [task, language, prompt, String(temperature), ...hotWords, ...voices];
}

/** Who takes turns: the known ones, and a stranger or two. */
const speakersOf = (known: readonly string[]): readonly string[] =>
  known.length === 0 ? ['A', 'B'] : known.length === 1 ? [...known, 'A'] : known;

function contentOf(audio: PreparedAudio): Uint8Array {
  if (audio.kind === 'encoded') return audio.bytes;
  return new Uint8Array(
    audio.samples.buffer,
    audio.samples.byteOffset,
    audio.samples.byteLength,
  );
}

import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../../core/shared/domain-error.js';
import {
  type EngineCapability,
  type ItemOutcome,
  type PreparedAudio,
  type RecognizerStream,
  type RecognizerStreamOptions,
  type SpeechRecognizer,
  type TranscribeItem,
  type Transcript,
} from '../engine.js';
import { cancelledError, failed, succeeded } from '../item-outcome.js';
import { SyntheticEngine } from './synthetic-engine.js';
import { type ScriptedFault, type SyntheticOptions } from './synthetic-options.js';
import { SyntheticStream } from './synthetic-stream.js';
import { syntheticTranscript } from './synthetic-transcript.js';

/** All that a transcript can be asked for. */
const CAPABILITIES: readonly EngineCapability[] = [
  ...(['transcribe', 'translate', 'word_timestamps', 'prompt', 'temperature'] as const),
  ...(['hot_words', 'logprobs', 'diarize'] as const),
];

/** A recogniser with no model: scripted cost and faults, deterministic text that depends on all it was asked. */
export class SyntheticRecognizer extends SyntheticEngine implements SpeechRecognizer {
  readonly kind = 'stt';
  readonly input: SyntheticOptions['input'];
  #openStreams = 0;

  constructor(options: SyntheticOptions, crash?: () => void) {
    const { streams } = options;
    super(options, { streams, capabilities: streams > 0 ? [...CAPABILITIES, 'stream'] : CAPABILITIES }, crash);
    this.input = options.input;
  }

  async prepare(_audio: PreparedAudio, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.options.prepareMs > 0) await sleep(this.options.prepareMs, undefined, { signal });
  }

  async transcribe(batch: readonly TranscribeItem[]): Promise<readonly ItemOutcome<Transcript>[]> {
    if (batch.every(({ signal }) => signal.aborted)) return batch.map(item => failed(cancelledError(item.requestId)));
    const items = batch.map(item => ({ signal: item.signal, content: contentOf(item.audio) }));
    const call = this.device.run(items);
    // Made up while the device works, so that the call costs what the script says and no more.
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
    const stream = new SyntheticStream({ partials, conditions, faults, release: () => this.#openStreams-- });
    return Promise.resolve(stream);
  }
}

function outcome(
  item: TranscribeItem,
  transcript: Transcript,
  fault: ScriptedFault | undefined,
): ItemOutcome<Transcript> {
  if (item.signal.aborted) return failed(cancelledError(item.requestId));
  if (fault?.action === 'fail') return failed(new DomainError('engine_failed', `Scripted fault '${fault.marker}'.`));
  return succeeded(transcript);
}

function transcriptOf(item: TranscribeItem): Transcript {
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

function conditionsOf({ task, language, prompt, temperature, hotWords = [], knownSpeakers = [] }: TranscribeItem) {
  const voices = knownSpeakers.map(({ name, samples }) => `${name} ${samples.length} samples`);
  return [task, language, prompt, String(temperature), ...hotWords, ...voices];
}

/** Who takes turns: the known ones, and a stranger or two. */
const speakersOf = (known: readonly string[]): readonly string[] =>
  known.length === 0 ? ['A', 'B'] : known.length === 1 ? [...known, 'A'] : known;

function contentOf(audio: PreparedAudio): Uint8Array {
  if (audio.kind === 'encoded') return audio.bytes;
  return new Uint8Array(audio.samples.buffer, audio.samples.byteOffset, audio.samples.byteLength);
}

import { type GenerationActivity } from './generation-activity.js';

/** What an engine tells about itself after `load()`; reported by the worker's Health RPC. */
export interface EngineInfo {
  readonly engine: string;
  /** "cpu", "cuda:0", ... */
  readonly device: string;
  /** Version of the loaded model files, for answers to "what ran this?". */
  readonly revision: string;
  /** Largest group one call takes. */
  readonly maxBatch: number;
  /** Engine calls that may run at the same time. */
  readonly maxConcurrent: number;
  /** Live streams besides files; 0: none. */
  readonly streams: number;
  /** REALTIME calls taken beyond `maxConcurrent`, by an engine in which they displace others; absent: none. */
  readonly overdraft?: number;
  readonly capabilities: readonly EngineCapability[];
  /** BCP-47 tags; empty: any. */
  readonly languages: readonly string[];
}

export type EngineCapability =
  | 'transcribe'
  | 'translate'
  | 'word_timestamps'
  | 'prompt'
  | 'hot_words'
  | 'temperature'
  | 'logprobs'
  | 'diarize'
  | 'stream'
  | 'speech'
  | 'speed'
  | 'chat'
  | 'completions'
  | 'tools'
  | 'embeddings'
  | 'dimensions';

/** One member's result: a failure touches its own request only (D-05). */
export type ItemOutcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: Error };

interface EngineBase {
  readonly info: EngineInfo;
  /** Loads and warms up; once per process. Rejects with a message that says what to install or where to look. */
  load(): Promise<void>;
  /** Frees native memory. Idempotent. */
  close(): Promise<void>;
}

export interface TranscribeItem {
  readonly requestId: string;
  /** Mono PCM at 16 kHz when `input` is 'pcm'; the untouched file when it is 'encoded'. */
  readonly audio: PreparedAudio;
  readonly task: 'transcribe' | 'translate';
  /** BCP-47; empty: detect. */
  readonly language: string;
  readonly prompt: string;
  readonly temperature: number;
  readonly wordTimestamps: boolean;
  /** Wants `Transcript.logprobs`; asked of engines with that capability only, as the next three. */
  readonly logprobs?: boolean;
  /** Wants a speaker on each segment. */
  readonly diarize?: boolean;
  readonly knownSpeakers?: readonly KnownVoice[];
  /** Words and phrases to expect. */
  readonly hotWords?: readonly string[];
  /** How the caller wants long audio cut: of engines that take files untouched; for the others the worker has cut. */
  readonly chunking?: Chunking;
  /** Told each segment once it is final, in order of time, where the engine knows before the end. */
  readonly onSegment?: (
    segment: TranscriptSegment,
    words: readonly TranscriptWord[],
    logprobs?: readonly TokenLogprob[],
  ) => void;
  /** Checked between segments; once aborted the item's outcome is ignored. */
  readonly signal: AbortSignal;
}

interface Chunking {
  /** What counts as speech, 0..1. */
  readonly threshold: number;
  readonly prefixPaddingMs: number;
  readonly silenceDurationMs: number;
}

export type PreparedAudio =
  | { readonly kind: 'pcm'; readonly samples: Int16Array; readonly sampleRate: 16000; readonly durationS: number }
  | { readonly kind: 'encoded'; readonly bytes: Uint8Array; readonly filename: string; readonly durationS: number };

/** A voice the caller can name; `samples` as in `PreparedAudio`. */
export interface KnownVoice {
  readonly name: string;
  readonly samples: Int16Array;
}

export interface TranscriptWord {
  readonly word: string;
  /** Seconds from the start of the audio. */
  readonly start: number;
  readonly end: number;
  /** 0..1; 0 when the engine has none. */
  readonly confidence: number;
}

export interface TranscriptSegment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly avgLogprob: number;
  readonly noSpeechProb: number;
  /** Token ids of the model; absent: it has none. */
  readonly tokens?: readonly number[];
  /** The temperature this segment was decoded at, after fallback. */
  readonly temperature?: number;
  /** A known speaker's name, or "A", "B", ... in order of appearance. */
  readonly speaker?: string;
}

export interface TokenLogprob {
  readonly token: string;
  /** Natural logarithm, <= 0. */
  readonly logprob: number;
  /** UTF-8 of the token, which may be part of a character only. */
  readonly bytes: Uint8Array;
}

export interface Transcript {
  readonly text: string;
  readonly language: string;
  /** Seconds of the whole audio, from an engine that decodes by itself; absent: the length of what it was given. */
  readonly durationS?: number;
  readonly segments: readonly TranscriptSegment[];
  readonly words: readonly TranscriptWord[];
  readonly logprobs?: readonly TokenLogprob[];
}

/** Recognition. `transcribe` is one engine call for the whole group; it answers per item, in order, and never rejects. */
export interface SpeechRecognizer extends EngineBase {
  readonly kind: 'stt';
  readonly input: 'pcm' | 'encoded';
  /** Long audio comes cut into items of at most so many seconds; absent: 30. */
  readonly longestItemS?: number;
  /** Input 'encoded': a larger file comes decoded and cut, as WAV. Bytes; absent: 25 MiB, OpenAI's own limit. */
  readonly largestFileBytes?: number;
  /**
   * CPU work of this engine on one item before it is READY, run with the decode stage's parallelism and never on the device.
   * Rejects when `signal` aborts, as soon as the work is let go. Absent: nothing to do.
   */
  prepare?(audio: PreparedAudio, signal: AbortSignal): Promise<void>;
  transcribe(batch: readonly TranscribeItem[]): Promise<readonly ItemOutcome<Transcript>[]>;
  /** Present when `info.streams > 0`. */
  openStream?(options: RecognizerStreamOptions): Promise<RecognizerStream>;
}

export interface RecognizerStreamOptions {
  readonly language: string;
  /** Not empty for models with the capability `prompt` only. */
  readonly prompt?: string;
  /** Wants `partial` events while speech goes on. */
  readonly partials: boolean;
}

/** What a live stream's user hears about: the engine's events and, with voice activity, where speech is. */
export type StreamEvent =
  | RecognizerEvent
  /** Seconds from the start of the stream where the utterance's audio begins and ends, padding included. */
  | { readonly type: 'speech_started'; readonly utterance: number; readonly at: number }
  | { readonly type: 'speech_stopped'; readonly utterance: number; readonly at: number };

export type RecognizerEvent =
  | { readonly type: 'partial'; readonly utterance: number; readonly text: string }
  | {
      readonly type: 'final';
      readonly utterance: number;
      readonly text: string;
      /** Seconds from the start of the stream. */
      readonly start: number;
      readonly end: number;
      readonly words: readonly TranscriptWord[];
    };

/** One live stream. Calls are ordered; events carry utterance numbers from 0. */
export interface RecognizerStream {
  /** Mono s16 at 16 kHz. Resolves when taken: the natural back pressure. */
  push(samples: Int16Array): Promise<readonly RecognizerEvent[]>;
  /** Ends the utterance; its `final` is among the answers. The next push starts another one. */
  commit(): Promise<readonly RecognizerEvent[]>;
  close(): Promise<void>;
}

export interface SynthesizeItem {
  readonly requestId: string;
  readonly text: string;
  readonly voice: string;
  /** 0.25..4 */
  readonly speed: number;
  readonly signal: AbortSignal;
  /** Receives mono s16 at `sampleRate` as it is made, in order. */
  emit(samples: Int16Array): void;
}

export interface EngineVoice {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly gender: 'female' | 'male' | '';
}

/** Synthesis. One engine call for the group; audio leaves through each item's `emit`, outcomes tell seconds made. */
export interface SpeechSynthesizer extends EngineBase {
  readonly kind: 'tts';
  readonly sampleRate: number;
  readonly voices: readonly EngineVoice[];
  synthesize(batch: readonly SynthesizeItem[]): Promise<readonly ItemOutcome<{ readonly durationS: number }>[]>;
}

type SpeechEngine = SpeechRecognizer | SpeechSynthesizer;

export interface GenerateItem {
  readonly requestId: string;
  /** Whose body it is: that of `/v1/chat/completions` or of `/v1/completions`. */
  readonly form: 'chat' | 'completion';
  /** The caller's JSON object, byte by byte; what follows is read from it. */
  readonly body: Buffer;
  /** OpenAI's chunks; else one chunk with the whole answer. */
  readonly stream: boolean;
  /** Tokens per choice; 0: the caller named no limit. */
  readonly maxTokens: number;
  /** Choices, 1 or more. */
  readonly n: number;
  readonly priority: 'realtime' | 'batch';
  /** Aged BATCH: its share of the turns while REALTIME waits as well (D-03); absent: it is not aged. */
  readonly agingShare?: number;
  /** Salt of what is kept between requests, such as cached prefixes. */
  readonly tenant: string;
  /** Checked between steps; once aborted, nothing more is yielded. */
  readonly signal: AbortSignal;
}

export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Part of `promptTokens` that was not computed anew. */
  readonly cachedTokens: number;
}

export type GenerationEvent =
  /** One JSON object in OpenAI's form; `model` and `service_tier` in it are overwritten by the gateway. */
  | { readonly type: 'chunk'; readonly json: string }
  | {
      readonly type: 'done';
      /** Absent: unknown. */
      readonly usage?: TokenUsage;
      /** In order of the choices' index. */
      readonly finishReasons: readonly string[];
      /** Milliseconds from the call to the first token; absent: unknown. */
      readonly firstTokenMs?: number;
    };

/** Generation of text. Up to `info.maxConcurrent` run at a time; `info.maxBatch` is 1, as no group is formed before the engine. */
export interface TextGenerator extends EngineBase {
  readonly kind: 'llm';
  /** Of engines that batch by steps, once loaded. */
  readonly activity?: GenerationActivity;
  /**
   * Chunks, then exactly one done; a failure is thrown. The engine goes on no further than a bounded number of chunks ahead of
   * who asks for them, and returning early (`return()`) ends the work like an abort.
   */
  generate(item: GenerateItem): AsyncIterable<GenerationEvent>;
}

export interface EmbedItem {
  readonly requestId: string;
  /** The caller's JSON object of `/v1/embeddings`, byte by byte. */
  readonly body: Buffer;
  /** Vectors the answer must hold. */
  readonly inputs: number;
  readonly tenant: string;
  readonly signal: AbortSignal;
}

export interface Embedding {
  /** One vector per input, one after another. */
  readonly vectors: Float32Array;
  /** Length of one vector. */
  readonly dimensions: number;
  readonly usage?: TokenUsage;
}

/** Embedding. `embed` is one engine call for the whole group; it answers per item, in order, and never rejects. */
export interface TextEmbedder extends EngineBase {
  readonly kind: 'embedding';
  embed(batch: readonly EmbedItem[]): Promise<readonly ItemOutcome<Embedding>[]>;
}

export type WorkerEngine = SpeechEngine | TextGenerator | TextEmbedder;

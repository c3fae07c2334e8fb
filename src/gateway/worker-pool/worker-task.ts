import { type Writable } from 'node:stream';
import { type TokenLogprob, type Transcript, type TranscriptSegment } from '../../contracts/formats/transcript.js';
import { type CallExecution } from '../../contracts/grpc/call.codec.js';
import { type CallTokenUsage, type Embedded, type GenerationForm } from '../../contracts/grpc/generation.codec.js';
import { type KnownSpeaker, type VoiceActivity } from '../../contracts/grpc/stt.codec.js';

/** Audio of an upload, in memory or on disk. Disposing twice is harmless. */
export interface AudioSource {
  readonly size: number;
  bytes(): Promise<Buffer>;
  /** From the beginning, in pieces, each of which holds until the next is asked for; every call reads anew. */
  chunks(): AsyncIterable<Buffer>;
  dispose(): Promise<void>;
}

/** Audio that the worker fetches by itself; the gateway never asks for it. */
export interface AudioUrl {
  /** http or https, without credentials. */
  readonly url: string;
}

export interface TranscribeTask {
  readonly kind: 'transcribe';
  readonly task: 'transcribe' | 'translate';
  readonly audio: AudioSource | AudioUrl;
  /** Seconds of audio, by its headers or guessed; absent: unknown. Long audio goes to the worker in pieces. */
  readonly durationS?: number;
  /** Told each segment once it is final, in order of time; once only, also when a second worker begins anew. */
  readonly onSegment?: (segment: TranscriptSegment, logprobs: readonly TokenLogprob[]) => void;
  /** As the client named it: a container hint for the decoder, never a path. */
  readonly filename: string;
  /** BCP-47; empty: detect. */
  readonly language: string;
  readonly prompt: string;
  /** 0..1 */
  readonly temperature: number;
  readonly wordTimestamps: boolean;
  /** How long audio is to be cut; absent: as the worker thinks best. */
  readonly chunking?: VoiceActivity;
  /** This and the next three are asked of models with that capability only. */
  readonly logprobs?: boolean;
  readonly diarize?: boolean;
  readonly knownSpeakers?: readonly KnownSpeaker[];
  readonly hotWords?: readonly string[];
}

export type SpeechFormat = 'mp3' | 'opus' | 'aac' | 'flac' | 'wav' | 'pcm';

/** Where synthesised audio goes while the call runs. `audio` is ended on success and left alone on failure. */
export interface SpeechSink {
  header(header: { readonly contentType: string; readonly sampleRate: number }): void;
  readonly audio: Writable;
}

export interface SynthesizeTask {
  readonly kind: 'synthesize';
  readonly text: string;
  /** Engine voice id, already resolved from the client's name. */
  readonly voice: string;
  /** 0.25..4 */
  readonly speed: number;
  readonly format: SpeechFormat;
  readonly sink: SpeechSink;
}

/** Where the chunks of a streamed answer go while the call runs. `chunks` is ended on success and left alone on failure. */
export interface GenerationSink {
  /** Before the first chunk: from now on no other worker may begin anew. */
  begin(): void;
  /** Each write is one JSON object. */
  readonly chunks: Writable;
}

export interface GenerateTask {
  readonly kind: 'generate';
  readonly form: GenerationForm;
  /** The caller's JSON object, byte by byte. */
  readonly body: Buffer;
  /** Tokens per choice; 0: no limit named. */
  readonly maxTokens: number;
  /** Choices, 1 or more. */
  readonly n: number;
  /** A streamed answer goes here; absent: the whole answer is in the reply. */
  readonly sink?: GenerationSink;
}

export interface EmbedTask {
  readonly kind: 'embed';
  /** The caller's JSON object, byte by byte. */
  readonly body: Buffer;
  /** Vectors that are wanted. */
  readonly inputs: number;
}

/** What the gateway keeps in `ScheduledRequest.payload`. */
export type WorkerTask = TranscribeTask | SynthesizeTask | GenerateTask | EmbedTask;

export type WorkerReply =
  | { readonly kind: 'transcript'; readonly transcript: Transcript; readonly execution: CallExecution }
  | { readonly kind: 'speech'; readonly durationS: number; readonly execution: CallExecution }
  | GenerationReply
  | ({ readonly kind: 'embeddings' } & Embedded);

export interface GenerationReply {
  readonly kind: 'generation';
  /** The whole answer as JSON; empty when it was streamed. */
  readonly answer: Buffer;
  /** Absent: the engine did not tell. */
  readonly usage?: CallTokenUsage;
  /** Why each choice ended, in order of its index. */
  readonly finishReasons: readonly string[];
  /** From the start of the engine's work to its first token, as the worker tells. */
  readonly firstTokenMs?: number;
  readonly execution: CallExecution;
}

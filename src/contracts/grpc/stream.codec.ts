import { type RecognizerEvent } from '@switchyard/engine-api/speech-recognizer.js';
import { corrected } from './call.codec.js';
import {
  type TranscribeStreamRequest,
  type TranscribeStreamResponse,
  type VoiceActivity,
} from './generated/switchyard/v1/stt.js';

/** What a live stream is to listen for; its first message. */
export interface StreamConfig {
  /** Names the call for Cancel; unique among the calls of a worker. */
  readonly sessionId: string;
  /** BCP-47; empty: detect, or the model's only language. */
  readonly language: string;
  readonly prompt: string;
  /** Hz of the PCM s16le that follows. */
  readonly sampleRate: number;
  readonly partials: boolean;
  /** Absent: utterances end with a commit only. */
  readonly voiceActivity?: VoiceActivity;
}

/**
 * What a live stream reports: the engine's events and, with voice activity, where speech
 * is, padding included.
 */
export type StreamEvent =
  | RecognizerEvent
  | {
      readonly type: 'speech_started' | 'speech_stopped';
      readonly utterance: number;
      readonly at: number;
    };

export const streamConfigMessage = (config: StreamConfig): TranscribeStreamRequest => ({
  message: { $case: 'config', value: config },
});

export const streamAudioMessage = (value: Buffer): TranscribeStreamRequest => ({
  message: { $case: 'audio', value },
});

export const STREAM_COMMIT: TranscribeStreamRequest = {
  message: { $case: 'commit', value: {} },
};

/** The events of a live stream and their names in the proto. */
const CASES = {
  partial: 'partial',
  final: 'final',
  speech_started: 'speechStarted',
  speech_stopped: 'speechStopped',
} as const;
const TYPES = new Map(
  Object.entries(CASES).map(([type, $case]) => [
    $case as string,
    type as StreamEvent['type'],
  ]),
);

/**
 * `ready`: the worker has given the stream a place. Undefined: a kind of event this
 * version does not know.
 */
export function decodeStreamEvent({
  event,
}: TranscribeStreamResponse): StreamEvent | 'ready' | undefined {
  if (event?.$case === 'ready') return 'ready';
  const type = event && TYPES.get(event.$case);
  return type && ({ type, ...corrected(event.value) } as StreamEvent);
}

export function encodeStreamEvent({
  type,
  ...value
}: StreamEvent): TranscribeStreamResponse {
  return { event: { $case: CASES[type], value } as TranscribeStreamResponse['event'] };
}

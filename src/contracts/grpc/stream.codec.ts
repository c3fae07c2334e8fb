import { type TranscriptWord } from '../formats/transcript.js';
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

/** What an engine reports of a live stream; utterances count from 0, times are seconds from the start of the stream. */
export type RecognizerEvent =
  | { readonly type: 'partial'; readonly utterance: number; readonly text: string }
  | {
      readonly type: 'final';
      readonly utterance: number;
      readonly text: string;
      readonly start: number;
      readonly end: number;
      readonly words: readonly TranscriptWord[];
    };

/** What a live stream reports: the engine's events and, with voice activity, where speech is, padding included. */
export type StreamEvent =
  | RecognizerEvent
  | { readonly type: 'speech_started' | 'speech_stopped'; readonly utterance: number; readonly at: number };

export const streamConfigMessage = (config: StreamConfig): TranscribeStreamRequest => ({
  message: { $case: 'config', value: { ...config, voiceActivity: config.voiceActivity } },
});

export const streamAudioMessage = (value: Buffer): TranscribeStreamRequest => ({ message: { $case: 'audio', value } });

export const STREAM_COMMIT: TranscribeStreamRequest = { message: { $case: 'commit', value: {} } };

/** `ready`: the worker has given the stream a place. Undefined: a kind of event this version does not know. */
export function decodeStreamEvent({ event }: TranscribeStreamResponse): StreamEvent | 'ready' | undefined {
  if (event) corrected(event);
  switch (event?.$case) {
    case 'ready':
      return 'ready';
    case 'partial':
      return { type: 'partial', ...event.value };
    case 'final':
      return { type: 'final', ...event.value };
    case 'speechStarted':
      return { type: 'speech_started', ...event.value };
    case 'speechStopped':
      return { type: 'speech_stopped', ...event.value };
    default:
      return undefined;
  }
}

export function encodeStreamEvent(event: StreamEvent): TranscribeStreamResponse {
  const { utterance } = event;
  switch (event.type) {
    case 'speech_started':
      return { event: { $case: 'speechStarted', value: { utterance, at: event.at } } };
    case 'speech_stopped':
      return { event: { $case: 'speechStopped', value: { utterance, at: event.at } } };
    case 'partial':
      return { event: { $case: 'partial', value: { utterance, text: event.text } } };
    case 'final': {
      const { text, start, end } = event;
      const words = event.words.map(word => ({ ...word }));
      return { event: { $case: 'final', value: { utterance, text, start, end, words } } };
    }
  }
}

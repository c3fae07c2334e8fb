import { type ChannelCredentials, type ClientOptions, makeGenericClientConstructor } from '@grpc/grpc-js';
import { appendBulk, splitBulk } from './bulk-field.js';
import { type Transcript } from '../formats/transcript.js';
import {
  type CallEnvelope,
  type CallExecution,
  decodeEnvelope,
  decodeExecution,
  encodeEnvelope,
  encodeExecution,
} from './call.codec.js';
import {
  SpeechToTextService,
  type SpeechToTextClient,
  Task,
  TranscribeFileRequest,
  type TranscribeFileResponse,
  type VoiceActivity,
} from './generated/switchyard/v1/stt.js';

export {
  type SpeechToTextClient,
  type SpeechToTextServer,
  type TranscribeFileRequest,
  type TranscribeFileResponse,
  type TranscribeStreamRequest,
  type TranscribeStreamResponse,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
  type VoiceActivity,
} from './generated/switchyard/v1/stt.js';

/** The file itself, or where the worker finds it. */
export type CallAudio = Buffer | { readonly url: string };

/** One `TranscribeFile` call as both sides see it. `audio` of a received call is a view of the gRPC message. */
export interface TranscribeCall extends CallEnvelope {
  readonly task: 'transcribe' | 'translate';
  readonly audio: CallAudio;
  readonly filename: string;
  readonly language: string;
  readonly prompt: string;
  readonly temperature: number;
  readonly wordTimestamps: boolean;
  /** How long audio is to be cut; absent: as the worker thinks best. */
  readonly chunking?: VoiceActivity;
  /** This and the next three: absent means not wanted. */
  readonly logprobs?: boolean;
  readonly diarize?: boolean;
  readonly knownSpeakers?: readonly KnownSpeaker[];
  readonly hotWords?: readonly string[];
}

/** A voice the caller can name; `reference` is an audio file of that voice alone. */
export interface KnownSpeaker {
  readonly name: string;
  readonly reference: Buffer;
}

export interface TranscribeAnswer {
  readonly kind: 'transcript';
  readonly transcript: Transcript;
  readonly execution: CallExecution;
}

const AUDIO = { field: 5 } as const;
const EMPTY = Buffer.alloc(0);

/** The service of `stt.proto`, with the upload going through in one copy instead of four. */
export const speechToTextDefinition = {
  ...SpeechToTextService,
  transcribeFile: {
    ...SpeechToTextService.transcribeFile,
    requestSerialize: (value: TranscribeFileRequest): Buffer =>
      appendBulk(TranscribeFileRequest.encode({ ...value, audio: EMPTY }).finish(), value.audio, AUDIO),
    requestDeserialize: (value: Buffer): TranscribeFileRequest => {
      const { rest, bulk } = splitBulk(value, AUDIO);
      return { ...TranscribeFileRequest.decode(rest), audio: bulk };
    },
  },
} as const;

export const SpeechToTextStub = makeGenericClientConstructor(
  speechToTextDefinition,
  'switchyard.v1.SpeechToText',
) as unknown as new (
  address: string,
  credentials: ChannelCredentials,
  options?: Partial<ClientOptions>,
) => SpeechToTextClient;

export const encodeTranscribeCall = (call: TranscribeCall): TranscribeFileRequest => ({
  ...encodeEnvelope(call),
  task: call.task === 'translate' ? Task.TRANSLATE : Task.TRANSCRIBE,
  audio: Buffer.isBuffer(call.audio) ? call.audio : EMPTY,
  audioUrl: Buffer.isBuffer(call.audio) ? '' : call.audio.url,
  filename: call.filename,
  language: call.language,
  prompt: call.prompt,
  temperature: call.temperature,
  wordTimestamps: call.wordTimestamps,
  logprobs: call.logprobs ?? false,
  diarize: call.diarize ?? false,
  knownSpeakers: [...(call.knownSpeakers ?? [])],
  hotWords: [...(call.hotWords ?? [])],
  chunking: call.chunking,
});

export const decodeTranscribeCall = (message: TranscribeFileRequest): TranscribeCall => ({
  ...decodeEnvelope(message),
  task: message.task === Task.TRANSLATE ? 'translate' : 'transcribe',
  audio: message.audioUrl === '' ? message.audio : { url: message.audioUrl },
  filename: message.filename,
  language: message.language,
  prompt: message.prompt,
  temperature: message.temperature,
  wordTimestamps: message.wordTimestamps,
  logprobs: message.logprobs,
  diarize: message.diarize,
  knownSpeakers: message.knownSpeakers,
  hotWords: message.hotWords,
  ...(message.chunking && { chunking: message.chunking }),
});

export const encodeTranscript = (transcript: Transcript, execution: CallExecution): TranscribeFileResponse => ({
  text: transcript.text,
  language: transcript.language,
  durationS: transcript.durationS,
  segments: transcript.segments.map(segment => ({
    ...segment,
    tokens: [...segment.tokens],
    speaker: segment.speaker ?? '',
  })),
  words: transcript.words.map(word => ({ ...word })),
  execution: encodeExecution(execution),
  logprobs: (transcript.logprobs ?? []).map(({ token, logprob, bytes }) => ({
    token,
    logprob,
    bytes: Buffer.from(bytes),
  })),
});

export const decodeTranscript = (message: TranscribeFileResponse): TranscribeAnswer => ({
  kind: 'transcript',
  transcript: {
    text: message.text,
    language: message.language,
    durationS: message.durationS,
    segments: message.segments.map(({ speaker, ...segment }) => (speaker === '' ? segment : { ...segment, speaker })),
    words: message.words,
    ...(message.logprobs.length === 0 ? {} : { logprobs: message.logprobs }),
  },
  execution: decodeExecution(message.execution),
});

import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import {
  type ChannelCredentials,
  type ClientOptions,
  makeGenericClientConstructor,
} from '@grpc/grpc-js';
import {
  type TokenLogprob,
  type Transcript,
  type TranscriptionParams,
  type TranscriptSegment,
  type TranscriptWord,
} from '@switchyard/engine-api/speech-recognizer.js';
import {
  type CallEnvelope,
  type CallExecution,
  corrected,
  decodeEnvelope,
  decodeExecution,
  encodeEnvelope,
  encodeExecution,
} from './call.codec.js';
import {
  type Segment,
  SpeechToTextService,
  type SpeechToTextClient,
  Task,
  TranscribeFileRequest,
  type TranscribeFileResponse,
  TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from './generated/switchyard/v1/stt.js';

/**
 * One large `bytes` field written and read without the copies of the generated code.
 *
 * An upload of 25 MB is copied three times by a generated encoder (growing buffer,
 * cut to size, Buffer) and once by a decoder. Protobuf lets a field stand anywhere in
 * a message, so the large one goes last: written with one copy, read as a view of
 * what gRPC received.
 * Field numbers are 1..15: one tag byte.
 */
const LENGTH_DELIMITED = 2;

/** Adds a field of bytes to an encoded message. @param message the encoding of all other fields */
function appendBulk(message: Uint8Array, bulk: Uint8Array, field: number): Buffer {
  if (bulk.byteLength === 0) return asBuffer(message);
  const head = new BinaryWriter().tag(field, LENGTH_DELIMITED).uint32(bulk.byteLength).finish();
  return Buffer.concat([message, head, bulk]);
}

/**
 * `bulk` is a view of `bytes`; `rest` holds all other fields. The last occurrence wins,
 * as everywhere in protobuf.
 */
function splitBulk(bytes: Uint8Array, field: number): { rest: Uint8Array; bulk: Buffer } {
  const reader = new BinaryReader(bytes);
  const kept: Uint8Array[] = [];
  let bulk: Uint8Array = new Uint8Array(0);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, wireType] = reader.tag();
    if (number === field && (wireType as number) === LENGTH_DELIMITED) bulk = reader.bytes();
    else {
      reader.skip(wireType, number);
      kept.push(bytes.subarray(start, reader.pos));
    }
  }
  return { rest: Buffer.concat(kept), bulk: asBuffer(bulk) };
}

/** A view of the same memory as a Buffer; `Buffer.from(bytes)` would copy. */
const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export {
  type SpeechToTextClient,
  type SpeechToTextServer,
  type TranscribeFileRequest,
  type TranscribeFileResponse,
  type TranscribeStreamRequest,
  type TranscribeStreamResponse,
  type TranscribeUploadRequest,
  type TranscribeUploadResponse,
} from './generated/switchyard/v1/stt.js';

/**
 * One `TranscribeFile` call as both sides see it. `audio` of a received call is a view of
 * the gRPC message.
 */
export interface TranscribeCallFields extends CallEnvelope, TranscriptionParams {
  /** The file itself, or where the worker finds it. */
  readonly audio: Buffer | { readonly url: string };
  /** As the client named it: a container hint for the decoder, never a path. */
  readonly filename: string;
}

export interface TranscribeAnswer {
  readonly kind: 'transcript';
  readonly transcript: Transcript;
  readonly execution: CallExecution;
}

const AUDIO = 5;

const UPLOADED = 2;

/** Field 2, length-delimited. */
const UPLOADED_TAG = 0x12;

const EMPTY = Buffer.alloc(0);

/**
 * The service of `stt.proto`, with the upload going through in one copy instead of four.
 */
export const speechToTextDefinition = {
  ...SpeechToTextService,
  transcribeFile: {
    ...SpeechToTextService.transcribeFile,
    requestSerialize: (value: TranscribeFileRequest): Buffer =>
      appendBulk(
        TranscribeFileRequest.encode({ ...value, audio: EMPTY }).finish(),
        value.audio,
        AUDIO,
      ),
    requestDeserialize: (value: Buffer): TranscribeFileRequest => {
      const { rest, bulk } = splitBulk(value, AUDIO);
      return { ...TranscribeFileRequest.decode(rest), audio: bulk };
    },
  },
  transcribeUpload: {
    ...SpeechToTextService.transcribeUpload,
    requestSerialize: ({ message }: TranscribeUploadRequest): Buffer =>
      message?.$case === 'audio'
        ? appendBulk(EMPTY, message.value, UPLOADED)
        : Buffer.from(TranscribeUploadRequest.encode({ message }).finish()),
    requestDeserialize: (value: Buffer): TranscribeUploadRequest => {
      if (value[0] !== UPLOADED_TAG) return TranscribeUploadRequest.decode(value);
      return { message: { $case: 'audio', value: splitBulk(value, UPLOADED).bulk } };
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

export const encodeTranscribeCall = (call: TranscribeCallFields): TranscribeFileRequest => ({
  ...(call as object as TranscribeFileRequest),
  ...encodeEnvelope(call),
  task: call.task === 'translate' ? Task.TRANSLATE : Task.TRANSCRIBE,
  audio: Buffer.isBuffer(call.audio) ? call.audio : EMPTY,
  audioUrl: Buffer.isBuffer(call.audio) ? '' : call.audio.url,
});

export const decodeTranscribeCall = ({
  audioUrl,
  ...message
}: TranscribeFileRequest): TranscribeCallFields => ({
  ...message,
  ...decodeEnvelope(message),
  task: message.task === Task.TRANSLATE ? 'translate' : 'transcribe',
  audio: audioUrl === '' ? message.audio : { url: audioUrl },
});

export const encodeTranscript = (
  transcript: Transcript,
  execution: CallExecution,
): TranscribeFileResponse => ({
  ...transcript,
  segments: transcript.segments.map(encodeSegment),
  words: [...transcript.words],
  execution: encodeExecution(execution),
  logprobs: (transcript.logprobs ?? []).map(encodeLogprob),
});

const encodeSegment = (segment: TranscriptSegment): Segment => ({
  ...segment,
  tokens: [...segment.tokens],
  speaker: segment.speaker ?? '',
  compressionRatio: segment.compressionRatio ?? 0,
});

const decodeSegment = ({ speaker, compressionRatio, ...segment }: Segment): TranscriptSegment => ({
  ...segment,
  speaker: speaker || undefined,
  compressionRatio: compressionRatio || undefined,
});

const encodeLogprob = ({ token, logprob, bytes }: TokenLogprob) => ({
  token,
  logprob,
  bytes: Buffer.from(bytes),
});

export function decodeTranscript(reported: TranscribeFileResponse): TranscribeAnswer {
  const { execution, segments, logprobs, ...rest } = corrected(reported);
  return {
    kind: 'transcript',
    transcript: {
      ...rest,
      segments: segments.map(decodeSegment),
      logprobs: logprobs.length === 0 ? undefined : logprobs,
    },
    execution: decodeExecution(execution),
  };
}

/** A segment of an upload, sent as soon as it is final. */
interface FinalSegment {
  readonly kind: 'segment';
  readonly segment: TranscriptSegment;
  readonly words: readonly TranscriptWord[];
  readonly logprobs: readonly TokenLogprob[];
}

/** First message of an upload; the audio follows in pieces, or the worker fetches it. */
export const encodeUploadStart = (
  call: Omit<TranscribeCallFields, 'audio'>,
  url?: string,
): TranscribeUploadRequest => ({
  message: {
    $case: 'start',
    value: encodeTranscribeCall({ ...call, audio: url === undefined ? EMPTY : { url } }),
  },
});

export const encodeFinalSegment = (
  final: Omit<FinalSegment, 'kind'>,
): TranscribeUploadResponse => ({
  message: {
    $case: 'segment',
    value: {
      segment: encodeSegment(final.segment),
      words: [...final.words],
      logprobs: final.logprobs.map(encodeLogprob),
    },
  },
});

export const encodeUploadDone = (
  transcript: Transcript,
  execution: CallExecution,
): TranscribeUploadResponse => ({
  message: { $case: 'done', value: encodeTranscript(transcript, execution) },
});

/**
 * What `TranscribeUpload` answers: segments as they become final, then the whole. Undefined
 * for a message of a kind that is not known here.
 */
export function decodeUploadAnswer({
  message,
}: TranscribeUploadResponse): FinalSegment | TranscribeAnswer | undefined {
  if (message?.$case === 'done') return decodeTranscript(message.value);
  if (message?.value.segment === undefined) return undefined;
  const { segment, words, logprobs } = message.value;
  return corrected<FinalSegment>({
    kind: 'segment',
    segment: decodeSegment(segment),
    words,
    logprobs,
  });
}

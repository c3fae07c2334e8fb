import { type RecognizerEvent } from '../engine.js';
import { type DecodedWord } from './decoded-word.js';

export interface DecoderThreadData {
  readonly modelDir: string;
}

interface DecodeRequest {
  /** Mono 16 kHz, in shared memory. */
  readonly samples: Int16Array;
  /** Memory of a CancelFlag. */
  readonly cancel: SharedArrayBuffer;
}

interface OpenRequest {
  readonly partials: boolean;
  readonly cancel: SharedArrayBuffer;
}

/** One file at a time; undefined: cancelled. */
export interface FileDecoderProtocol {
  decode: { request: DecodeRequest; reply: readonly DecodedWord[] | undefined; notice: never };
}

/** One live stream at a time. */
export interface LiveDecoderProtocol {
  open: { request: OpenRequest; reply: void; notice: never };
  push: { request: { readonly samples: Int16Array }; reply: readonly RecognizerEvent[]; notice: never };
  commit: { request: undefined; reply: readonly RecognizerEvent[]; notice: never };
  close: { request: undefined; reply: void; notice: never };
}

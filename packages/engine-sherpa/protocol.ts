import { type UtteranceLengths } from '@switchyard/engine-api/audio/utterance-split.js';
import { type KnownVoice, type RecognizerEvent } from '@switchyard/engine-api/speech-recognizer.js';
import { type Notify } from '@switchyard/engine-api/threads/remote-calls.js';
import { type RecognizerResult } from './library.js';

/** What was heard in one stretch of a file; seconds from its start. */
export interface HeardUtterance {
  readonly start: number;
  readonly end: number;
  readonly result: RecognizerResult;
}

/** Files and live streams of one model. `decode` answers undefined when cancelled. */
export interface RecognizerThread {
  readonly data: {
    readonly streaming: boolean;
    /** Configuration of an OfflineRecognizer or an OnlineRecognizer. */
    readonly config: object;
    /** Lengths of the stretches of speech that are decoded; absent: all audio is decoded. */
    readonly stretches?: UtteranceLengths | undefined;
  };
  readonly info: undefined;
  readonly calls: {
    decode(
      request: {
        /** Mono 16 kHz, in shared memory. */
        readonly samples: Int16Array;
        /** Memory of a cancel flag. */
        readonly cancel: SharedArrayBuffer;
      },
      notify: Notify<HeardUtterance>,
    ): Promise<true | undefined>;
    /** `id` of a live stream. */
    open(request: { readonly id: number; readonly partials: boolean }): void;
    push(request: {
      readonly id: number;
      readonly samples: Int16Array;
    }): Promise<readonly RecognizerEvent[]>;
    commit(request: { readonly id: number }): Promise<readonly RecognizerEvent[]>;
    close(request: { readonly id: number }): void;
    /**
     * What the streaming recogniser did; a run decodes one step of every stream
     * that is ready.
     */
    counters(request: undefined): {
      readonly runs: number;
      readonly rows: number;
    };
  };
}

export interface SpeechThread {
  readonly data: { readonly config: object };
  readonly info: { readonly sampleRate: number; readonly speakers: number };
  readonly calls: {
    /** @returns the number of samples */
    speak(
      request: {
        readonly sentences: readonly string[];
        readonly speaker: number;
        readonly speed: number;
        readonly cancel: SharedArrayBuffer;
      },
      notify: Notify<Int16Array>,
    ): number;
  };
}

/** Who speaks when; seconds from the start of the file. */
export interface NamedTurn {
  readonly start: number;
  readonly end: number;
  readonly speaker: string;
}

export interface DiarizerThread {
  readonly data: {
    /** Configurations of an OfflineSpeakerDiarization and a SpeakerEmbeddingExtractor. */
    readonly config: object;
    readonly embedding: object;
    readonly leastLikeness: number;
  };
  readonly info: undefined;
  readonly calls: {
    diarize(request: {
      readonly samples: Int16Array;
      readonly known: readonly KnownVoice[];
    }): readonly NamedTurn[];
  };
}

import { type TranscriptWord } from '@switchyard/engine-api/speech-recognizer.js';
import koffi, { type LibraryHandle } from 'koffi';
import { openNativeLibrary } from '../threads/native-library.js';
import { findModelFiles } from './model-files.js';

/** PocketSphinx analyses speech in frames of 10 ms. */
const FRAMES_PER_SECOND = 100;

/**
 * Addresses inside the native library. They are valid until `freeDecoder`, and on the
 * thread that made them only.
 */
type Pointer = unknown;

const DEBIAN_PACKAGES = ['libpocketsphinx3', 'pocketsphinx-en-us'];

/**
 * `feat_t` up to the two members read here; the layout is fixed by the library's soname.
 */
const FEATURES = koffi.struct({
  refcount: 'int',
  name: 'void*',
  cepsize: 'int32',
  n_stream: 'int32',
  stream_len: 'void*',
  window_size: 'int32',
  n_sv: 'int32',
  sv_len: 'void*',
  subvecs: 'void*',
  sv_buf: 'void*',
  sv_dim: 'int32',
  cmn: 'int32',
  varnorm: 'int32',
  agc: 'int32',
  compute_feat: 'void*',
  cmn_struct: 'void*',
});

/** What normalises cepstra. @returns `size`: coefficients per frame */
function readNormaliser(features: Pointer) {
  const fields = koffi.decode(features, FEATURES) as {
    cepsize: number;
    cmn_struct: Pointer;
  };
  return { pointer: fields.cmn_struct, size: fields.cepsize };
}

/** Copies `frames` rows of `size` cepstra out of native memory. */
function copyCepstra(rows: Pointer, frames: number, size: number): Float32Array {
  const firstRow: Pointer = koffi.decode(rows, 'void*');
  return koffi.decode(firstRow, koffi.array('float', frames * size, 'Typed')) as Float32Array;
}

/** Makes functions of a library. A prototype says what one takes, and koffi checks that. */
const functionsOf =
  (library: LibraryHandle) =>
  <R>(prototype: string) =>
    library.func(prototype) as (...args: unknown[]) => R;

/** What decoding needs of libsphinxbase.so.3 (0.8+5prealpha). */
function loadBase() {
  const native = functionsOf(openNativeLibrary('libsphinxbase.so.3', DEBIAN_PACKAGES));
  return {
    silenceLog: native<void>('void err_set_logfp(void*)'),
    parseArguments: native<Pointer>('void* cmd_ln_parse_r(void*, void*, int, const char**, int)'),
    freeArguments: native<number>('int cmd_ln_free_r(void*)'),
    exp: native<number>('double logmath_exp(void*, int)'),
    startFrontEnd: native<number>('int fe_start_utt(void*)'),
    /**
     * Front end, samples, their number; answers cepstra as an array of row pointers with
     * contiguous rows, and its length. Free with `freeCepstra`.
     */
    cepstra: native<number>(
      'int fe_process_utt(void*, const int16_t*, size_t, _Out_ void**, _Out_ int32_t*)',
    ),
    freeCepstra: native<void>('void fe_free_2d(void*)'),
    setCepstralMean: native<void>('void cmn_live_set(void*, const float*)'),
    getCepstralMean: native<void>('void cmn_live_get(void*, _Out_ float*)'),
  };
}

/** Of libpocketsphinx.so.3, which needs the other one. */
function loadDecoder() {
  const native = functionsOf(openNativeLibrary('libpocketsphinx.so.3', DEBIAN_PACKAGES));
  return {
    ...segmentFunctions(native),
    argumentTable: native<Pointer>('void* ps_args()'),
    /** Keeps its own reference to the arguments; null when a model file cannot be read. */
    initDecoder: native<Pointer>('void* ps_init(void*)'),
    freeDecoder: native<number>('int ps_free(void*)'),
    /**
     * Resets noise tracking and the frame counter; without it word times keep growing from
     * one utterance to the next.
     */
    startStream: native<number>('int ps_start_stream(void*)'),
    startUtterance: native<number>('int ps_start_utt(void*)'),
    endUtterance: native<number>('int ps_end_utt(void*)'),
    /** Decoder, samples, their number, 1: no search, 1: it is the full utterance. */
    processRaw: native<number>('int ps_process_raw(void*, const int16_t*, size_t, int, int)'),
    /** Decoder, score; null: nothing was said. */
    hypothesis: native<string | null>('const char* ps_get_hyp(void*, _Out_ int32_t*)'),
    logMath: native<Pointer>('void* ps_get_logmath(void*)'),
    /** Borrowed from the decoder. */
    frontEnd: native<Pointer>('void* ps_get_fe(void*)'),
    features: native<Pointer>('void* ps_get_feat(void*)'),
  };
}

const segmentFunctions = (native: ReturnType<typeof functionsOf>) => ({
  /**
   * The iterator frees itself when `nextSegment` answers null: always walk it to its end.
   */
  firstSegment: native<Pointer>('void* ps_seg_iter(void*)'),
  nextSegment: native<Pointer>('void* ps_seg_next(void*)'),
  segmentWord: native<string>('const char* ps_seg_word(void*)'),
  /** Segment, its first and last frame. */
  segmentFrames: native<void>('void ps_seg_frames(void*, _Out_ int*, _Out_ int*)'),
  /** Segment, its acoustic, language and back-off score. */
  segmentLogPosterior: native<number>(
    'int32_t ps_seg_prob(void*, _Out_ int32_t*, _Out_ int32_t*, _Out_ int32_t*)',
  ),
});

type PocketSphinx = ReturnType<typeof loadBase> & ReturnType<typeof loadDecoder>;

/**
 * One native PocketSphinx decoder: a first pass while it is fed, a second one and a
 * search of the word lattice when the utterance ends. Synchronous: lives on an engine
 * thread and is used by that thread only.
 */
export class Decoder {
  readonly #library: PocketSphinx;
  readonly #pointer: Pointer;
  readonly #normaliser: ReturnType<typeof readNormaliser>;
  readonly #modelMean: Float32Array;
  /** An utterance has begun and not ended. */
  #open = false;
  #freed = false;

  /** @throws Error that says what to install */
  constructor(modelDir: string) {
    const library = { ...loadBase(), ...loadDecoder() };
    library.silenceLog(null);
    this.#library = library;
    this.#pointer = createDecoder(library, modelDir);
    this.#normaliser = readNormaliser(library.features(this.#pointer));
    this.#modelMean = new Float32Array(this.#normaliser.size);
    library.getCepstralMean(this.#normaliser.pointer, this.#modelMean);
  }

  /**
   * Mean of the cepstra over the speech frames of `samples`, which normalises the channel
   * and the voice out of them; the model's own mean when there are none.
   * Decoding that starts from the mean of the audio itself gets about half the word
   * errors of a cold start (README, "PocketSphinx").
   */
  cepstralMean(samples: Int16Array, isCancelled: () => boolean = () => false): Float32Array {
    // The front end tracks noise; without this the mean would depend on the audio before.
    this.#check(this.#library.startStream(this.#pointer), 'ps_start_stream');
    const sum = new Float64Array(this.#normaliser.size);
    let frames = 0;
    for (let from = 0; from < samples.length && !isCancelled(); from += MEAN_SLICE_SAMPLES) {
      frames += this.#addCepstra(samples.slice(from, from + MEAN_SLICE_SAMPLES), sum);
    }
    return frames === 0 ? this.#modelMean : Float32Array.from(sum, value => value / frames);
  }

  /**
   * Opens an utterance that knows nothing of any earlier one: mean, noise tracking and
   * clock start anew.
   */
  begin(mean: Float32Array): void {
    this.#library.setCepstralMean(this.#normaliser.pointer, mean);
    this.#check(this.#library.startStream(this.#pointer), 'ps_start_stream');
    this.#check(this.#library.startUtterance(this.#pointer), 'ps_start_utt');
    this.#open = true;
  }

  feed(samples: Int16Array): void {
    // A copy, because native code cannot be handed memory that another thread shares.
    const own = samples.slice();
    this.#check(this.#library.processRaw(this.#pointer, own, own.length, 0, 0), 'ps_process_raw');
  }

  /** Best text so far, raw. */
  hypothesis(): string {
    return this.#library.hypothesis(this.#pointer, [0]) ?? '';
  }

  /** Ends the utterance. Words and fillers (`<sil>`, `[NOISE]`, `++UM++`) in order, times in seconds from its begin. */
  finish(): TranscriptWord[] {
    this.#end();
    const words: TranscriptWord[] = [];
    const logMath = this.#library.logMath(this.#pointer);
    for (
      let at = this.#library.firstSegment(this.#pointer);
      at !== null;
      at = this.#library.nextSegment(at)
    ) {
      const first: [number] = [0];
      const last: [number] = [0];
      this.#library.segmentFrames(at, first, last);
      const posterior = this.#library.exp(
        logMath,
        this.#library.segmentLogPosterior(at, [0], [0], [0]),
      );
      words.push({
        word: this.#library.segmentWord(at),
        start: first[0] / FRAMES_PER_SECOND,
        end: (last[0] + 1) / FRAMES_PER_SECOND,
        confidence: Math.min(1, posterior),
      });
    }
    return words;
  }

  /**
   * Ends the utterance, if there is one, without asking for its words. The library makes
   * its second pass all the same.
   */
  abandon(): void {
    if (this.#open) this.#end();
  }

  free(): void {
    if (this.#freed) return;
    this.#freed = true;
    this.#open = false;
    this.#library.freeDecoder(this.#pointer);
  }

  #end(): void {
    this.#open = false;
    this.#check(this.#library.endUtterance(this.#pointer), 'ps_end_utt');
  }

  #addCepstra(samples: Int16Array, sum: Float64Array): number {
    const frontEnd = this.#library.frontEnd(this.#pointer);
    const rows: [unknown] = [null];
    const frames: [number] = [0];
    this.#library.startFrontEnd(frontEnd);
    const status = this.#library.cepstra(frontEnd, samples, samples.length, rows, frames);
    if (status < 0 || frames[0] === 0) return 0;
    const cepstra = copyCepstra(rows[0], frames[0], sum.length);
    this.#library.freeCepstra(rows[0]);
    return addSpeechFrames(cepstra, sum);
  }

  #check(status: number, call: string): void {
    if (status < 0) throw new Error(`PocketSphinx: ${call} failed with ${status}`);
  }
}

/** 10 s: a cancel is noticed between slices, each about 5 ms of work. */
const MEAN_SLICE_SAMPLES = 160_000;

/**
 * Frames with no energy (C0 <= 0) are digital silence and tell nothing of the channel.
 */
function addSpeechFrames(cepstra: Float32Array, sum: Float64Array): number {
  let frames = 0;
  for (let row = 0; row < cepstra.length; row += sum.length) {
    if ((cepstra[row] ?? 0) <= 0) continue;
    frames++;
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (cepstra[row + i] ?? 0);
  }
  return frames;
}

function createDecoder(library: PocketSphinx, modelDir: string): Pointer {
  const model = findModelFiles(modelDir);
  const argv = [
    'switchyard',
    '-logfn',
    '/dev/null',
    '-hmm',
    model.acousticModel,
    '-lm',
    model.languageModel,
    '-dict',
    model.dictionary,
    // With its silence removal the decoder's clock stops in pauses, and every later word
    // is seconds off.
    '-remove_silence',
    'no',
  ];
  const config = library.parseArguments(null, library.argumentTable(), argv.length, argv, 1);
  if (config === null) throw new Error(`PocketSphinx refused its arguments: ${argv.join(' ')}`);
  const decoder = library.initDecoder(config);
  library.freeArguments(config);
  if (decoder === null) {
    throw new Error(
      `PocketSphinx cannot read the model ${model.acousticModel} or its language model or dictionary.`,
    );
  }
  return decoder;
}

import koffi from 'koffi';
import { openNativeLibrary } from '../threads/native-library.js';

/**
 * Addresses inside the native library. They are valid until `freeDecoder`, and on the
 * thread that made them only.
 */
export type Pointer = unknown;

/**
 * The part of libpocketsphinx.so.3 and libsphinxbase.so.3 (0.8+5prealpha)
 * that decoding needs.
 */
export interface PocketSphinxLibrary {
  silenceLog(nowhere: null): void;
  argumentTable(): Pointer;
  parseArguments(
    base: null,
    table: Pointer,
    count: number,
    argv: readonly string[],
    strict: 0 | 1,
  ): Pointer;
  freeArguments(config: Pointer): number;
  /** Keeps its own reference to the arguments; null when a model file cannot be read. */
  initDecoder(config: Pointer): Pointer;
  freeDecoder(decoder: Pointer): number;
  /**
   * Resets noise tracking and the frame counter; without it word times keep growing from
   * one utterance to the next.
   */
  startStream(decoder: Pointer): number;
  startUtterance(decoder: Pointer): number;
  endUtterance(decoder: Pointer): number;
  processRaw(
    decoder: Pointer,
    samples: Int16Array,
    count: number,
    noSearch: 0,
    fullUtterance: 0,
  ): number;
  hypothesis(decoder: Pointer, score: [number]): string | null;
  /**
   * The iterator frees itself when `nextSegment` answers null: always walk it to its end.
   */
  firstSegment(decoder: Pointer): Pointer;
  nextSegment(segment: Pointer): Pointer;
  segmentWord(segment: Pointer): string;
  segmentFrames(segment: Pointer, first: [number], last: [number]): void;
  segmentLogPosterior(
    segment: Pointer,
    acoustic: [number],
    language: [number],
    backoff: [number],
  ): number;
  logMath(decoder: Pointer): Pointer;
  exp(logMath: Pointer, value: number): number;
  /** Borrowed from the decoder. */
  frontEnd(decoder: Pointer): Pointer;
  startFrontEnd(frontEnd: Pointer): number;
  /**
   * Answers cepstra as an array of row pointers with contiguous rows;
   * free with `freeCepstra`.
   */
  cepstra(
    frontEnd: Pointer,
    samples: Int16Array,
    count: number,
    rows: [Pointer],
    frames: [number],
  ): number;
  freeCepstra(rows: Pointer): void;
  features(decoder: Pointer): Pointer;
  setCepstralMean(normaliser: Pointer, mean: Float32Array): void;
  getCepstralMean(normaliser: Pointer, mean: Float32Array): void;
}

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
export function readNormaliser(features: Pointer) {
  const fields = koffi.decode(features, FEATURES) as {
    cepsize: number;
    cmn_struct: Pointer;
  };
  return { pointer: fields.cmn_struct, size: fields.cepsize };
}

/** Copies `frames` rows of `size` cepstra out of native memory. */
export function copyCepstra(rows: Pointer, frames: number, size: number): Float32Array {
  const firstRow: Pointer = koffi.decode(rows, 'void*');
  return koffi.decode(
    firstRow,
    koffi.array('float', frames * size, 'Typed'),
  ) as Float32Array;
}

export function loadPocketSphinx(): PocketSphinxLibrary {
  const base = openNativeLibrary('libsphinxbase.so.3', DEBIAN_PACKAGES);
  const decoder = openNativeLibrary('libpocketsphinx.so.3', DEBIAN_PACKAGES);
  return {
    silenceLog: base.func('void err_set_logfp(void*)'),
    argumentTable: decoder.func('void* ps_args()'),
    parseArguments: base.func(
      'void* cmd_ln_parse_r(void*, void*, int, const char**, int)',
    ),
    freeArguments: base.func('int cmd_ln_free_r(void*)'),
    initDecoder: decoder.func('void* ps_init(void*)'),
    freeDecoder: decoder.func('int ps_free(void*)'),
    startStream: decoder.func('int ps_start_stream(void*)'),
    startUtterance: decoder.func('int ps_start_utt(void*)'),
    endUtterance: decoder.func('int ps_end_utt(void*)'),
    processRaw: decoder.func(
      'int ps_process_raw(void*, const int16_t*, size_t, int, int)',
    ),
    hypothesis: decoder.func('const char* ps_get_hyp(void*, _Out_ int32_t*)'),
    firstSegment: decoder.func('void* ps_seg_iter(void*)'),
    nextSegment: decoder.func('void* ps_seg_next(void*)'),
    segmentWord: decoder.func('const char* ps_seg_word(void*)'),
    segmentFrames: decoder.func('void ps_seg_frames(void*, _Out_ int*, _Out_ int*)'),
    segmentLogPosterior: decoder.func(
      'int32_t ps_seg_prob(void*, _Out_ int32_t*, _Out_ int32_t*, _Out_ int32_t*)',
    ),
    logMath: decoder.func('void* ps_get_logmath(void*)'),
    exp: base.func('double logmath_exp(void*, int)'),
    frontEnd: decoder.func('void* ps_get_fe(void*)'),
    startFrontEnd: base.func('int fe_start_utt(void*)'),
    cepstra: base.func(
      'int fe_process_utt(void*, const int16_t*, size_t, _Out_ void**, _Out_ int32_t*)',
    ),
    freeCepstra: base.func('void fe_free_2d(void*)'),
    features: decoder.func('void* ps_get_feat(void*)'),
    setCepstralMean: base.func('void cmn_live_set(void*, const float*)'),
    getCepstralMean: base.func('void cmn_live_get(void*, _Out_ float*)'),
  };
}

import { readFileSync } from 'node:fs';
import koffi, { type KoffiFunc, type LibraryHandle } from 'koffi';
import { INSTALL } from './library.js';

type TypeSpec = Parameters<typeof koffi.sizeof>[0];

/** Pointers of C. */
export type Pointer = bigint;

/**
 * `llama_model_params` of llama.h at the release that node-llama-cpp 3.22.1
 * was built from.
 */
const MODEL_PARAMS = koffi.struct('llama_model_params', {
  ...{ devices: 'void *', tensor_buft_overrides: 'void *' },
  ...{
    n_gpu_layers: 'int32_t',
    split_mode: 'int',
    load_mode: 'int',
    lazy_mode: 'int',
    main_gpu: 'int32_t',
  },
  ...{
    tensor_split: 'void *',
    progress_callback: 'void *',
    progress_callback_user_data: 'void *',
    kv_overrides: 'void *',
  },
  ...{ vocab_only: 'bool', check_tensors: 'bool', use_extra_bufts: 'bool' },
  ...{ no_host: 'bool', no_alloc: 'bool', load_mtp: 'bool' },
});

/** `llama_context_params`, likewise. */
const CONTEXT_PARAMS = koffi.struct('llama_context_params', {
  ...{
    n_ctx: 'uint32_t',
    n_batch: 'uint32_t',
    n_ubatch: 'uint32_t',
    n_seq_max: 'uint32_t',
    n_rs_seq: 'uint32_t',
  },
  ...{
    n_outputs_max: 'uint32_t',
    n_outputs_max_per_seq: 'uint32_t',
    n_threads: 'int32_t',
    n_threads_batch: 'int32_t',
  },
  ...{
    ctx_type: 'int',
    rope_scaling_type: 'int',
    pooling_type: 'int',
    attention_type: 'int',
    flash_attn_type: 'int',
  },
  ...{
    rope_freq_base: 'float',
    rope_freq_scale: 'float',
    yarn_ext_factor: 'float',
    yarn_attn_factor: 'float',
  },
  ...{
    yarn_beta_fast: 'float',
    yarn_beta_slow: 'float',
    yarn_orig_ctx: 'uint32_t',
    defrag_thold: 'float',
  },
  ...{ cb_eval: 'void *', cb_eval_user_data: 'void *', type_k: 'int', type_v: 'int' },
  ...{ abort_callback: 'void *', abort_callback_data: 'void *' },
  ...{
    embeddings: 'bool',
    offload_kqv: 'bool',
    no_perf: 'bool',
    op_offload: 'bool',
    swa_full: 'bool',
    kv_unified: 'bool',
  },
  ...{ samplers: 'void *', n_samplers: 'size_t', ctx_other: 'void *' },
});

const BATCH = koffi.struct('llama_batch', {
  ...{ n_tokens: 'int32_t', token: 'void *', embd: 'void *', pos: 'void *' },
  ...{ n_seq_id: 'void *', seq_id: 'void *', logits: 'void *' },
});

export type ModelParams = Readonly<Record<string, unknown>> & {
  readonly n_gpu_layers: number;
};
export type ContextParams = Readonly<Record<string, unknown>> & {
  readonly n_batch: number;
  readonly n_ubatch: number;
};
export interface NativeBatch {
  readonly n_tokens: number;
  readonly token: Pointer;
  readonly pos: Pointer;
  readonly n_seq_id: Pointer;
  readonly seq_id: Pointer;
  readonly logits: Pointer;
}

/** What this engine calls of llama.h. */
export interface CLibrary {
  readonly modelDefaults: () => ModelParams;
  readonly contextDefaults: () => ContextParams;
  readonly loadModel: (file: string, params: ModelParams) => Pointer | null;
  readonly openContext: (model: Pointer, params: ContextParams) => Pointer | null;
  readonly closeContext: (context: Pointer) => void;
  readonly vocabulary: (model: Pointer) => Pointer;
  readonly vocabularySize: (vocabulary: Pointer) => number;
  readonly vectorSize: (model: Pointer) => number;
  readonly trainedContext: (model: Pointer) => number;
  readonly hasEncoder: (model: Pointer) => boolean;
  readonly hasDecoder: (model: Pointer) => boolean;
  readonly describe: (model: Pointer, text: Buffer, size: number) => number;
  /** Minus what it needs, where `most` is too little. */
  readonly tokenize: (
    ...args: [Pointer, Buffer, number, Int32Array, number, boolean, boolean]
  ) => number;
  readonly beginningOfText: (vocabulary: Pointer) => number;
  readonly endOfText: (vocabulary: Pointer) => number;
  readonly separator: (vocabulary: Pointer) => number;
  readonly addsBeginning: (vocabulary: Pointer) => boolean;
  readonly addsEnd: (vocabulary: Pointer) => boolean;
  readonly addsSeparator: (vocabulary: Pointer) => boolean;
  /** By its name; null: the file has none. */
  readonly template: (model: Pointer, name: string) => string | null;
  /** 0 none, 1 mean, 2 first, 3 last, 4 rank */
  readonly pooling: (context: Pointer) => number;
  readonly newBatch: (
    tokens: number,
    embedding: number,
    sequences: number,
  ) => NativeBatch;
  readonly memory: (context: Pointer) => Pointer | null;
  readonly clearMemory: (memory: Pointer, data: boolean) => void;
  /**
   * Positions from `start` to before `end`; -1: from the first one, or to the last one.
   */
  readonly cutSequence: (
    memory: Pointer,
    sequence: number,
    start: number,
    end: number,
  ) => boolean;
  readonly copySequence: (
    memory: Pointer,
    from: number,
    to: number,
    start: number,
    end: number,
  ) => void;
  /**
   * Bytes that a sequence has in memory, as `takeState` and `giveState` have them; both
   * say how many they were.
   */
  readonly stateSize: (context: Pointer, sequence: number) => number;
  readonly takeState: (
    context: Pointer,
    state: Buffer,
    size: number,
    sequence: number,
  ) => number;
  readonly giveState: (
    context: Pointer,
    state: Buffer,
    size: number,
    sequence: number,
  ) => number;
  readonly decode: KoffiFunc<(context: Pointer, batch: NativeBatch) => number>;
  /** Of all outputs of the last run; brings them into the order of the batch. */
  readonly logits: (context: Pointer) => Pointer | null;
  /** By place in the batch. */
  readonly logitsAt: (context: Pointer, place: number) => Pointer | null;
  readonly encode: (context: Pointer, batch: NativeBatch) => number;
  readonly vectorOf: (context: Pointer, sequence: number) => Pointer | null;
}

/**
 * llama.h itself, from the library that node-llama-cpp has loaded: its own classes hand
 * out the vector of one text per run, so texts could not share one, and give every
 * sequence a part of the memory of its own. Structures belong to one release; what it
 * says of itself is compared with what that says.
 */
export function openCLibrary(): CLibrary {
  const opened = functionsOf(loadedLibrary());
  const { n_gpu_layers: layers } = opened.modelDefaults();
  const { n_batch: batch, n_ubatch: run } = opened.contextDefaults();
  if (layers !== -1 || batch !== 2048 || run !== 512)
    throw new Error(`This llama.cpp is not the one that this engine knows: ${INSTALL}`);
  return opened;
}

function functionsOf(library: LibraryHandle): CLibrary {
  const as = <F>(name: string, result: TypeSpec, args: readonly TypeSpec[]): F =>
    library.func(name, result, [...args]) as unknown as F;
  const model = 'void *';
  return {
    modelDefaults: as('llama_model_default_params', MODEL_PARAMS, []),
    contextDefaults: as('llama_context_default_params', CONTEXT_PARAMS, []),
    loadModel: as('llama_model_load_from_file', 'void *', ['str', MODEL_PARAMS]),
    openContext: as('llama_init_from_model', 'void *', [model, CONTEXT_PARAMS]),
    closeContext: as('llama_free', 'void', ['void *']),
    vocabulary: as('llama_model_get_vocab', 'void *', [model]),
    vocabularySize: as('llama_vocab_n_tokens', 'int32_t', ['void *']),
    vectorSize: as('llama_model_n_embd_out', 'int32_t', [model]),
    trainedContext: as('llama_model_n_ctx_train', 'int32_t', [model]),
    hasEncoder: as('llama_model_has_encoder', 'bool', [model]),
    hasDecoder: as('llama_model_has_decoder', 'bool', [model]),
    describe: as('llama_model_desc', 'int32_t', [model, 'void *', 'size_t']),
    tokenize: as('llama_tokenize', 'int32_t', [
      'void *',
      'void *',
      'int32_t',
      'void *',
      'int32_t',
      'bool',
      'bool',
    ]),
    beginningOfText: as('llama_vocab_bos', 'int32_t', ['void *']),
    endOfText: as('llama_vocab_eos', 'int32_t', ['void *']),
    separator: as('llama_vocab_sep', 'int32_t', ['void *']),
    addsBeginning: as('llama_vocab_get_add_bos', 'bool', ['void *']),
    addsEnd: as('llama_vocab_get_add_eos', 'bool', ['void *']),
    addsSeparator: as('llama_vocab_get_add_sep', 'bool', ['void *']),
    template: as('llama_model_chat_template', 'str', [model, 'str']),
    pooling: as('llama_pooling_type', 'int', ['void *']),
    newBatch: as('llama_batch_init', BATCH, ['int32_t', 'int32_t', 'int32_t']),
    memory: as('llama_get_memory', 'void *', ['void *']),
    clearMemory: as('llama_memory_clear', 'void', ['void *', 'bool']),
    cutSequence: as('llama_memory_seq_rm', 'bool', [
      'void *',
      'int32_t',
      'int32_t',
      'int32_t',
    ]),
    copySequence: as('llama_memory_seq_cp', 'void', [
      'void *',
      'int32_t',
      'int32_t',
      'int32_t',
      'int32_t',
    ]),
    stateSize: as('llama_state_seq_get_size', 'size_t', ['void *', 'int32_t']),
    takeState: as('llama_state_seq_get_data', 'size_t', [
      'void *',
      'void *',
      'size_t',
      'int32_t',
    ]),
    giveState: as('llama_state_seq_set_data', 'size_t', [
      'void *',
      'void *',
      'size_t',
      'int32_t',
    ]),
    logits: as('llama_get_logits', 'void *', ['void *']),
    logitsAt: as('llama_get_logits_ith', 'void *', ['void *', 'int32_t']),
    decode: as('llama_decode', 'int32_t', ['void *', BATCH]),
    encode: as('llama_encode', 'int32_t', ['void *', BATCH]),
    vectorOf: as('llama_get_embeddings_seq', 'void *', ['void *', 'int32_t']),
  };
}

/** @throws Error when the file is no model, or does not fit */
export function loadModelFile(
  library: CLibrary,
  file: string,
  gpuLayers: number,
): Pointer {
  const model = library.loadModel(file, {
    ...library.modelDefaults(),
    n_gpu_layers: gpuLayers,
  });
  if (model === null) throw new Error(`llama.cpp cannot load ${file}`);
  return model;
}

/** Such as "llama 1B Q8_0". */
export function describeModel(library: CLibrary, model: Pointer): string {
  const text = Buffer.alloc(256);
  return text.toString(
    'utf8',
    0,
    Math.min(255, library.describe(model, text, text.length)),
  );
}

/**
 * The file that is mapped into this process: the one for its device, with its
 * backends registered.
 */
export function loadedLibrary(): LibraryHandle {
  const paths = readFileSync('/proc/self/maps', 'utf8').split('\n');
  const path = paths
    .map(line => line.slice(line.indexOf('/')))
    .find(file => /\/libllama\.[^/]*so[^/]*$/.test(file));
  if (path === undefined)
    throw new Error(
      'The library of llama.cpp is not loaded; embeddings and `kvTokens` need Linux.',
    );
  return koffi.load(path);
}

import { readFileSync } from 'node:fs';
import koffi, { type KoffiFunc, type LibraryHandle } from 'koffi';
import { INSTALL } from './library.js';

/** Pointers of C. */
export type Pointer = bigint;

/**
 * `llama_model_params` of llama.h at the release that node-llama-cpp 3.22.1
 * was built from.
 */
koffi.struct('llama_model_params', {
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
koffi.struct('llama_context_params', {
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

koffi.struct('llama_batch', {
  ...{ n_tokens: 'int32_t', token: 'void *', embd: 'void *', pos: 'void *' },
  ...{ n_seq_id: 'void *', seq_id: 'void *', logits: 'void *' },
});

type ModelParams = Readonly<Record<string, unknown>> & {
  readonly n_gpu_layers: number;
};
type ContextParams = Readonly<Record<string, unknown>> & {
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

/** By name here: the prototype of llama.h, pointers as `void *`. */
const PROTOTYPES: Readonly<Record<keyof CLibrary, string>> = {
  modelDefaults: 'llama_model_params llama_model_default_params()',
  contextDefaults: 'llama_context_params llama_context_default_params()',
  loadModel: 'void *llama_model_load_from_file(str, llama_model_params)',
  openContext: 'void *llama_init_from_model(void *, llama_context_params)',
  closeContext: 'void llama_free(void *)',
  vocabulary: 'void *llama_model_get_vocab(void *)',
  vocabularySize: 'int32_t llama_vocab_n_tokens(void *)',
  vectorSize: 'int32_t llama_model_n_embd_out(void *)',
  trainedContext: 'int32_t llama_model_n_ctx_train(void *)',
  hasEncoder: 'bool llama_model_has_encoder(void *)',
  hasDecoder: 'bool llama_model_has_decoder(void *)',
  describe: 'int32_t llama_model_desc(void *, void *, size_t)',
  tokenize:
    'int32_t llama_tokenize(void *, void *, int32_t, void *, int32_t, bool, bool)',
  beginningOfText: 'int32_t llama_vocab_bos(void *)',
  endOfText: 'int32_t llama_vocab_eos(void *)',
  separator: 'int32_t llama_vocab_sep(void *)',
  addsBeginning: 'bool llama_vocab_get_add_bos(void *)',
  addsEnd: 'bool llama_vocab_get_add_eos(void *)',
  addsSeparator: 'bool llama_vocab_get_add_sep(void *)',
  template: 'str llama_model_chat_template(void *, str)',
  pooling: 'int llama_pooling_type(void *)',
  newBatch: 'llama_batch llama_batch_init(int32_t, int32_t, int32_t)',
  memory: 'void *llama_get_memory(void *)',
  clearMemory: 'void llama_memory_clear(void *, bool)',
  cutSequence: 'bool llama_memory_seq_rm(void *, int32_t, int32_t, int32_t)',
  copySequence: 'void llama_memory_seq_cp(void *, int32_t, int32_t, int32_t, int32_t)',
  stateSize: 'size_t llama_state_seq_get_size(void *, int32_t)',
  takeState: 'size_t llama_state_seq_get_data(void *, void *, size_t, int32_t)',
  giveState: 'size_t llama_state_seq_set_data(void *, void *, size_t, int32_t)',
  logits: 'void *llama_get_logits(void *)',
  logitsAt: 'void *llama_get_logits_ith(void *, int32_t)',
  decode: 'int32_t llama_decode(void *, llama_batch)',
  encode: 'int32_t llama_encode(void *, llama_batch)',
  vectorOf: 'void *llama_get_embeddings_seq(void *, int32_t)',
};

const functionsOf = (library: LibraryHandle): CLibrary =>
  Object.fromEntries(
    Object.entries(PROTOTYPES).map(([name, prototype]) => [
      name,
      library.func(prototype),
    ]),
  ) as unknown as CLibrary;

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

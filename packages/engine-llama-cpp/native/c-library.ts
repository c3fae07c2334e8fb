import { type Fields } from '@switchyard/engine-api/is-object.js';
import koffi, { type KoffiFunc, type LibraryHandle } from 'koffi';

/** A pointer of C. */
export type Pointer = bigint;

/**
 * `llama_model_params` of llama.h at the commits that `backends` knows; `loadLibraries`
 * refuses any other.
 */
koffi.struct('llama_model_params', {
  devices: 'void *',
  tensor_buft_overrides: 'void *',
  n_gpu_layers: 'int32_t',
  split_mode: 'int',
  load_mode: 'int',
  lazy_mode: 'int',
  main_gpu: 'int32_t',
  tensor_split: 'void *',
  progress_callback: 'void *',
  progress_callback_user_data: 'void *',
  kv_overrides: 'void *',
  vocab_only: 'bool',
  check_tensors: 'bool',
  use_extra_bufts: 'bool',
  no_host: 'bool',
  no_alloc: 'bool',
  load_mtp: 'bool',
});

/** `llama_context_params` of llama.h at the same commits. */
koffi.struct('llama_context_params', {
  n_ctx: 'uint32_t',
  n_batch: 'uint32_t',
  n_ubatch: 'uint32_t',
  n_seq_max: 'uint32_t',
  n_rs_seq: 'uint32_t',
  n_outputs_max: 'uint32_t',
  n_outputs_max_per_seq: 'uint32_t',
  n_threads: 'int32_t',
  n_threads_batch: 'int32_t',
  ctx_type: 'int',
  rope_scaling_type: 'int',
  pooling_type: 'int',
  attention_type: 'int',
  flash_attn_type: 'int',
  rope_freq_base: 'float',
  rope_freq_scale: 'float',
  yarn_ext_factor: 'float',
  yarn_attn_factor: 'float',
  yarn_beta_fast: 'float',
  yarn_beta_slow: 'float',
  yarn_orig_ctx: 'uint32_t',
  defrag_thold: 'float',
  cb_eval: 'void *',
  cb_eval_user_data: 'void *',
  type_k: 'int',
  type_v: 'int',
  abort_callback: 'void *',
  abort_callback_data: 'void *',
  embeddings: 'bool',
  offload_kqv: 'bool',
  no_perf: 'bool',
  op_offload: 'bool',
  swa_full: 'bool',
  kv_unified: 'bool',
  samplers: 'void *',
  n_samplers: 'size_t',
  ctx_other: 'void *',
});

koffi.struct('llama_sampler_chain_params', { no_perf: 'bool' });

koffi.struct('llama_batch', {
  n_tokens: 'int32_t',
  token: 'void *',
  embd: 'void *',
  pos: 'void *',
  n_seq_id: 'void *',
  seq_id: 'void *',
  logits: 'void *',
});

export interface NativeBatch {
  readonly n_tokens: number;
  readonly token: Pointer;
  readonly pos: Pointer;
  readonly n_seq_id: Pointer;
  readonly seq_id: Pointer;
  readonly logits: Pointer;
}

/** The functions of llama.h that this engine calls. */
export interface CLibrary {
  modelDefaults(): Fields;
  contextDefaults(): Fields;
  readonly loadModel: KoffiFunc<(file: string, params: Fields) => Pointer | null>;
  openContext(model: Pointer, params: Fields): Pointer | null;
  closeContext(context: Pointer): void;
  vocabulary(model: Pointer): Pointer;
  vocabularySize(vocabulary: Pointer): number;
  vectorSize(model: Pointer): number;
  trainedContext(model: Pointer): number;
  hasEncoder(model: Pointer): boolean;
  hasDecoder(model: Pointer): boolean;
  isRecurrent(model: Pointer): boolean;
  isHybrid(model: Pointer): boolean;
  describe(model: Pointer, text: Buffer, size: number): number;
  /** @returns the number of tokens; negative: minus the number that there is no room for */
  tokenize(...args: [Pointer, Buffer, number, Int32Array, number, boolean, boolean]): number;
  /** 1 SentencePiece, 2 byte-level BPE, 3 WordPiece, 4 unigram, 5 RWKV */
  vocabularyType(vocabulary: Pointer): number;
  tokenText(vocabulary: Pointer, token: number): string | null;
  tokenAttributes(vocabulary: Pointer, token: number): number;
  /** Whether this token ends an answer. */
  isEnd(vocabulary: Pointer, token: number): boolean;
  beginningOfText(vocabulary: Pointer): number;
  endOfText(vocabulary: Pointer): number;
  separator(vocabulary: Pointer): number;
  addsBeginning(vocabulary: Pointer): boolean;
  addsEnd(vocabulary: Pointer): boolean;
  addsSeparator(vocabulary: Pointer): boolean;
  /** By its name, null for the one of chats. @returns null: the file has none */
  template(model: Pointer, name: string | null): string | null;
  /** A text of the file's metadata. @returns its length; -1: the file has none */
  metadata(model: Pointer, key: string, text: Buffer, size: number): number;
  /** 0 none, 1 mean, 2 first, 3 last, 4 rank */
  pooling(context: Pointer): number;
  newBatch(tokens: number, embedding: number, sequences: number): NativeBatch;
  memory(context: Pointer): Pointer | null;
  clearMemory(memory: Pointer, data: boolean): void;
  /**
   * Positions from `start` to before `end`; -1: from the first one, or to the last one.
   */
  cutSequence(memory: Pointer, sequence: number, start: number, end: number): boolean;
  copySequence(memory: Pointer, from: number, to: number, start: number, end: number): void;
  /**
   * Bytes that a sequence has in memory, as `takeState` and `giveState` have them; both
   * say how many they were.
   */
  stateSize(context: Pointer, sequence: number): number;
  takeState(context: Pointer, state: Buffer, size: number, sequence: number): number;
  giveState(context: Pointer, state: Buffer, size: number, sequence: number): number;
  readonly decode: KoffiFunc<(context: Pointer, batch: NativeBatch) => number>;
  /**
   * Of all outputs of the last run: waits for it, and brings them into the order
   * of the batch.
   */
  readonly logits: KoffiFunc<(context: Pointer) => Pointer | null>;
  /** Logits of the token at this place of the batch. */
  logitsAt(context: Pointer, place: number): Pointer | null;
  readonly encode: KoffiFunc<(context: Pointer, batch: NativeBatch) => number>;
  vectorOf(context: Pointer, sequence: number): Pointer | null;

  /** Samplers: a chain owns what is added to it, and frees what it still has with itself. */
  newChain(params: { readonly no_perf: boolean }): Pointer;
  cloneSampler(sampler: Pointer): Pointer;
  addSampler(chain: Pointer, sampler: Pointer): void;
  /** Takes the sampler at this index out of the chain; the caller frees it. */
  removeSampler(chain: Pointer, place: number): Pointer;
  chainLength(chain: Pointer): number;
  freeSampler(sampler: Pointer): void;
  greedy(): Pointer;
  distribution(seed: number): Pointer;
  topK(count: number): Pointer;
  topP(mass: number, least: number): Pointer;
  minP(share: number, least: number): Pointer;
  temperature(temperature: number): Pointer;
  penalties(...args: [vocabulary: number, last: number, number, number, number]): Pointer;
  /** @param biases token id (int32) and bias (float32), alternately */
  biases(vocabulary: number, count: number, biases: Int32Array): Pointer;
  /** Null: the text cannot be read. */
  grammar(vocabulary: Pointer, text: string, root: string): Pointer | null;
  acceptToken(sampler: Pointer, token: number): void;
  /** @param candidates a `llama_token_data_array` in native memory */
  applySampler(sampler: Pointer, candidates: Pointer): void;
  /** Draws from the logits at this place of the batch, and accepts. */
  readonly sample: KoffiFunc<(chain: Pointer, context: Pointer, place: number) => number>;
}

/** Binds the functions of llama.h. */
export const openCLibrary = (library: LibraryHandle): CLibrary =>
  Object.fromEntries(
    Object.entries(PROTOTYPES).map(([name, prototype]) => [name, library.func(prototype)]),
  ) as unknown as CLibrary;

/** Prototypes of llama.h by their names here; pointers are `void *`. */
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
  isRecurrent: 'bool llama_model_is_recurrent(void *)',
  isHybrid: 'bool llama_model_is_hybrid(void *)',
  describe: 'int32_t llama_model_desc(void *, void *, size_t)',
  tokenize: 'int32_t llama_tokenize(void *, void *, int32_t, void *, int32_t, bool, bool)',
  vocabularyType: 'int llama_vocab_type(void *)',
  tokenText: 'str llama_vocab_get_text(void *, int32_t)',
  tokenAttributes: 'int llama_vocab_get_attr(void *, int32_t)',
  isEnd: 'bool llama_vocab_is_eog(void *, int32_t)',
  beginningOfText: 'int32_t llama_vocab_bos(void *)',
  endOfText: 'int32_t llama_vocab_eos(void *)',
  separator: 'int32_t llama_vocab_sep(void *)',
  addsBeginning: 'bool llama_vocab_get_add_bos(void *)',
  addsEnd: 'bool llama_vocab_get_add_eos(void *)',
  addsSeparator: 'bool llama_vocab_get_add_sep(void *)',
  template: 'str llama_model_chat_template(void *, str)',
  metadata: 'int32_t llama_model_meta_val_str(void *, str, void *, size_t)',
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
  newChain: 'void *llama_sampler_chain_init(llama_sampler_chain_params)',
  cloneSampler: 'void *llama_sampler_clone(void *)',
  addSampler: 'void llama_sampler_chain_add(void *, void *)',
  removeSampler: 'void *llama_sampler_chain_remove(void *, int32_t)',
  chainLength: 'int32_t llama_sampler_chain_n(void *)',
  freeSampler: 'void llama_sampler_free(void *)',
  greedy: 'void *llama_sampler_init_greedy()',
  distribution: 'void *llama_sampler_init_dist(uint32_t)',
  topK: 'void *llama_sampler_init_top_k(int32_t)',
  topP: 'void *llama_sampler_init_top_p(float, size_t)',
  minP: 'void *llama_sampler_init_min_p(float, size_t)',
  temperature: 'void *llama_sampler_init_temp(float)',
  penalties: 'void *llama_sampler_init_penalties(int32_t, int32_t, float, float, float)',
  biases: 'void *llama_sampler_init_logit_bias(int32_t, int32_t, void *)',
  grammar: 'void *llama_sampler_init_grammar(void *, str, str)',
  acceptToken: 'void llama_sampler_accept(void *, int32_t)',
  applySampler: 'void llama_sampler_apply(void *, void *)',
  sample: 'int32_t llama_sampler_sample(void *, void *, int32_t)',
};

import { type Fields } from '@switchyard/engine-api/is-object.js';
import koffi, { type KoffiFunc, type LibraryHandle } from 'koffi';
import { type LoadedLibraries } from './backends.js';
import { openCLibrary, type Pointer } from './c-library.js';

/** A model file that llama.h has opened. */
export type NativeModel = Awaited<ReturnType<typeof openNativeModel>>;

/**
 * @param changes to the defaults of `llama_model_params`
 * @returns `description`: such as "llama 1B Q8_0"
 * @throws Error when the file is no model, or does not fit
 */
export async function openNativeModel(llama: LibraryHandle, modelFile: string, changes: Fields) {
  const library = openCLibrary(llama);
  const params = { ...library.modelDefaults(), ...changes };
  const model = await offThread(library.loadModel, modelFile, params);
  if (model === null) throw new Error('llama.cpp does not say why');
  const vocabulary = library.vocabulary(model);
  const text = Buffer.alloc(256);
  const length = Math.min(255, library.describe(model, text, text.length));
  return {
    library,
    model,
    vocabulary,
    vocabularySize: library.vocabularySize(vocabulary),
    description: text.toString('utf8', 0, length),
  };
}

/** Floats of native memory, copied. */
export const floatsAt = (pointer: Pointer, count: number): Float32Array =>
  koffi.decode(pointer, koffi.array('float', count, 'Typed')) as Float32Array;

/** Runs a function of the library on a thread of the pool. */
export const offThread = <A extends unknown[], R>(
  call: KoffiFunc<(...args: A) => R>,
  ...args: A
): Promise<R> =>
  new Promise((resolve, reject) =>
    call.async(...args, (error: Error | null, result) => {
      if (error) reject(error);
      else resolve(result);
    }),
  );

/** How a model cuts a text into tokens. */
export function tokenizer({ library, vocabulary }: NativeModel) {
  let scratch = new Int32Array(4096);
  /**
   * @param ways `special`: with the first and last tokens that the model wants; `control`:
   *   text that spells a control token is one
   */
  return (text: string, ways: { special: boolean; control: boolean }): Int32Array => {
    const bytes = Buffer.from(text);
    const into = (tokens: Int32Array): number =>
      library.tokenize(
        vocabulary,
        bytes,
        bytes.length,
        tokens,
        tokens.length,
        ways.special,
        ways.control,
      );
    let count = into(scratch);
    if (count < 0) count = into((scratch = new Int32Array(-count)));
    return scratch.slice(0, count);
  };
}

/** @param room what it is for @throws Error when there is too little memory */
export function openNativeContext(
  { library, model }: NativeModel,
  params: Fields,
  room: string,
): Pointer {
  const all = { ...library.contextDefaults(), ...params };
  const context = library.openContext(model, all);
  if (context === null) throw new Error(`llama.cpp has no memory for ${room}`);
  return context;
}

const FITTING =
  'int _Z17common_fit_paramsPKcP18llama_model_paramsP20llama_context_paramsPfP32llama_model_tensor_buft_overridePmjPK22common_fit_extra_model14ggml_log_level' +
  '(str, _Inout_ llama_model_params *, _Inout_ llama_context_params *, void *, void *, void *, uint32_t, void *, int)';
/** A result of it: the context and the weights are more than the memory of all devices. */
const DOES_NOT_FIT = 1;
/** Memory of each device that is left to other programs: llama.cpp's default. */
const MARGIN_BYTES = 1024 ** 3;
/** Bytes of `llama_model_tensor_buft_override`, and `GGML_LOG_LEVEL_ERROR`. */
const OVERRIDE_BYTES = 16;
const ERRORS_ONLY = 4;

/**
 * llama.cpp's own way to find how many layers fit on the devices, beside a context: it
 * measures model and context without their memory.
 */
export function modelFitter({ llama, common }: LoadedLibraries) {
  const library = openCLibrary(llama);
  const fit = common.func(FITTING);
  const devices = llama.func('size_t llama_max_devices()')() as number;
  const overrides = llama.func('size_t llama_max_tensor_buft_overrides()')() as number;
  /**
   * @returns parameters of the model, which point to memory that is never freed
   * @throws Error when no division fits
   */
  return (modelFile: string, model: Fields, context: Fields): Fields => {
    const params = { ...library.modelDefaults(), ...model };
    const margins = new BigUint64Array(devices).fill(BigInt(MARGIN_BYTES));
    const status: unknown = fit(
      modelFile,
      params,
      { ...library.contextDefaults(), ...context },
      koffi.alloc('float', devices),
      koffi.alloc('uint8_t', OVERRIDE_BYTES * overrides),
      margins,
      0,
      null,
      ERRORS_ONLY,
    );
    if (status !== DOES_NOT_FIT) return params;
    throw new Error(
      `${modelFile} and a context of ${String(context.n_ctx)} tokens do not fit into the memory of the device: ` +
        'set options.contextTokens or options.rows lower, or options.gpuLayers',
    );
  };
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type LlamaDevice } from '../binaries.js';
import { type ChildSettings } from '../options.js';
import { type LoadedLibraries, loadLibraries, reasonInLog } from './backends.js';
import { contextParams } from './kv-context.js';
import { modelFitter, type NativeModel, openNativeModel } from './native-model.js';

interface OpenedModel {
  readonly device: LlamaDevice;
  readonly native: NativeModel;
}

type ModelSettings = Pick<ChildSettings, 'modelFile' | 'device' | 'gpuLayers'>;

/** @throws Error that says what to install, or what is wrong with the file */
export function openModel(settings: ModelSettings): Promise<OpenedModel> {
  const libraries = loadLibraries(settings.device);
  return openWith(libraries, settings, layerParams(libraries, settings));
}

/**
 * A model for text, with as many layers on the GPU as fit beside its context.
 * @throws Error as `openModel`, or that the context does not fit
 */
export function openTextModel(settings: ChildSettings): Promise<OpenedModel> {
  const libraries = loadLibraries(settings.device);
  const params = layerParams(libraries, settings);
  const fits = settings.kvTokens !== undefined;
  const fitted = fits
    ? params
    : modelFitter(libraries)(settings.modelFile, params, contextParams(settings));
  return openWith(libraries, settings, fitted);
}

function layerParams({ device }: LoadedLibraries, { gpuLayers }: ModelSettings): Fields {
  const layers = device === 'cpu' ? 0 : gpuLayers;
  return layers === undefined ? {} : { n_gpu_layers: layers };
}

/** Opens the model. A failed call gives no reason, so the log is read. */
async function openWith(
  { device, llama }: LoadedLibraries,
  { modelFile }: ModelSettings,
  params: Fields,
): Promise<OpenedModel> {
  try {
    return { device, native: await openNativeModel(llama, modelFile, params) };
  } catch (error) {
    await nextTurn();
    throw new Error(`${modelFile} cannot be loaded: ${reasonInLog() ?? errorMessage(error)}`, {
      cause: error,
    });
  }
}

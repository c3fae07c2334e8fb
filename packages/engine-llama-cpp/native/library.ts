import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { ownName } from '@switchyard/engine-api/own-name.js';
import type * as LlamaPackage from 'node-llama-cpp';
import { type ChildSettings } from '../options.js';
import { INSTALL, type NativeModel, openNativeModel } from './c-library.js';

const GPU_INSTALL = { cuda: 'llama-cpp', vulkan: 'llama-cpp-vulkan' } as const;

interface OpenedModel {
  /** "cpu", "cuda", "vulkan", "metal" */
  readonly device: string;
  readonly native: NativeModel;
}

export interface OpenedTextModel extends OpenedModel {
  /** As the file says. */
  readonly name: string | undefined;
  /** Jinja, as the file has it; undefined: the model is not for chat. */
  readonly chatTemplate: string | undefined;
  /** llama.cpp's own Jinja; throws when the template cannot be read. */
  readonly JinjaRenderer: new (template: string) => {
    render(variables: Fields): string;
  };
}

type ModelSettings = Pick<ChildSettings, 'modelFile' | 'device' | 'gpuLayers'>;

/** @throws Error that says what to install, or what is wrong with the file */
export async function openModel(settings: ModelSettings): Promise<OpenedModel> {
  const llama = await openLibrary(await loadPackage(), settings.device);
  return withReason(settings.modelFile, loadModel(llama, settings));
}

/** @throws Error as `openModel`, or that there is too little memory */
export async function openTextModel(settings: ChildSettings): Promise<OpenedTextModel> {
  const library = await loadPackage();
  const llama = await openLibrary(library, settings.device);
  return withReason(settings.modelFile, loadTextModel(library, llama, settings));
}

async function loadModel(
  llama: LlamaPackage.Llama,
  { modelFile, gpuLayers }: Omit<ModelSettings, 'device'>,
): Promise<OpenedModel> {
  const device = llama.gpu || 'cpu';
  const layers = device === 'cpu' ? 0 : gpuLayers;
  return { device, native: await openNativeModel(modelFile, layers) };
}

/**
 * With cells that are divided, node-llama-cpp says how many layers fit, and whether the
 * context does.
 */
async function loadTextModel(
  { readGgufFileInfo, GgufInsights, GgmlType }: typeof LlamaPackage,
  llama: LlamaPackage.Llama,
  settings: ChildSettings,
): Promise<OpenedTextModel> {
  const { modelFile, kvTokens, exact } = settings;
  const file = await readGgufFileInfo(modelFile, { sourceType: 'filesystem' });
  const { configurationResolver: resolver } = await GgufInsights.from(file, llama);
  const { gpuLayers } =
    kvTokens === undefined ? await resolver.resolveModelGpuLayersV2(settings.gpuLayers) : settings;
  const opened = await loadModel(llama, { modelFile, gpuLayers });
  if (kvTokens === undefined)
    await resolver.resolveContextContextSize(settings.contextTokens, {
      modelGpuLayers: gpuLayers!,
      modelTrainContextSize: settings.contextTokens,
      batchSize: settings.stepTokens,
      sequences: settings.rows,
      swaFullCache: true,
      ...(exact && {
        flashAttention: false,
        kvCacheKeyType: GgmlType.F32,
        kvCacheValueType: GgmlType.F32,
      }),
    });
  const { general, tokenizer } = file.metadata;
  const { _bindings: bindings } = llama as unknown as {
    readonly _bindings: {
      readonly AddonJinjaRenderer: OpenedTextModel['JinjaRenderer'];
    };
  };
  return {
    ...opened,
    name: general.name,
    chatTemplate: tokenizer.chat_template,
    JinjaRenderer: bindings.AddonJinjaRenderer,
  };
}

/**
 * Why a model does not load: llama.cpp writes it to its log, the error says only
 * that it failed.
 */
let loggedReason: string | undefined;

function log(_level: LlamaPackage.LlamaLogLevel, message: string): void {
  process.stderr.write(`${message.trimEnd()}\n`);
  loggedReason = /error loading model: (.+)/.exec(message)?.[1] ?? loggedReason;
}

async function withReason<T>(modelFile: string, loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    await nextTurn();
    throw new Error(`${modelFile} cannot be loaded: ${loggedReason ?? errorMessage(error)}`, {
      cause: error,
    });
  }
}

async function loadPackage(): Promise<typeof LlamaPackage> {
  try {
    return await import('node-llama-cpp');
  } catch (error) {
    throw new Error(
      `node-llama-cpp is not there or does not load: ${INSTALL} (${errorMessage(error)})`,
      {
        cause: error,
      },
    );
  }
}

/**
 * Never builds, never downloads; a device that was asked for by name and is not there
 * is an error.
 */
async function openLibrary(
  library: typeof LlamaPackage,
  device: ChildSettings['device'],
): Promise<LlamaPackage.Llama> {
  try {
    return await library.getLlama({
      gpu: device === 'cpu' ? false : device,
      build: 'never',
      progressLogs: false,
      logLevel: library.LlamaLogLevel.warn,
      logger: log,
    });
  } catch (error) {
    if (device === 'auto' || device === 'cpu')
      throw new Error(
        `llama.cpp has no binary for this machine: ${INSTALL} (${errorMessage(error)})`,
        {
          cause: error,
        },
      );
    throw new Error(
      `llama.cpp does not run on ${device} here: ${ownName()} gpu install ${GPU_INSTALL[device]}, ` +
        `and a driver for the device (${errorMessage(error)})`,
      { cause: error },
    );
  }
}

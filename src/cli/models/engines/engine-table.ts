import { type EngineCapability, TRANSCRIPT_CAPABILITIES } from '@switchyard/engine-api/engine.js';
import { LLAMA_PACKAGE } from '@switchyard/engine-llama-cpp/binaries.js';
import { type ModelKind } from '../../../platform/config/model-spec.js';

/**
 * One row of the table of engines: what an engine serves, on which devices, and where
 * it comes from.
 */
interface EngineRow {
  /**
   * The npm packages that only this engine needs, the one whose version is the engine's
   * first; package.json has their versions. Absent: a system library, a Python
   * environment, or built in.
   */
  readonly npm?: readonly string[];
  readonly kinds: readonly ModelKind[];
  /** What models of this engine can have; the model and its options decide. */
  readonly capabilities: readonly EngineCapability[];
  /** What it cannot do, besides the capabilities that are not listed. */
  readonly without?: string;
  /** How models.yaml selects the device. Absent: the engine does not run there. */
  readonly devices: Readonly<Partial<Record<'cpu' | 'cuda' | 'vulkan', string>>>;
  /** Where it computes, if not on this machine. */
  readonly elsewhere?: string;
}

const CPU_BY_DEFAULT = { cpu: '`device: cpu` (default)' } as const;

/**
 * Every engine. `switchyard engines list` and the tables of
 * docs/guides/choose-an-engine.md come from it; a spec compares its devices with what the
 * options of each engine accept.
 */
export const ENGINE_TABLE: Readonly<Record<string, EngineRow>> = {
  'sherpa-onnx': {
    npm: ['sherpa-onnx-node'],
    kinds: ['stt', 'tts'],
    capabilities: ['transcribe', 'word_timestamps', 'diarize', 'stream', 'speech', 'speed'],
    without: 'word times of Whisper and Moonshine; `diarize` needs two more models',
    devices: CPU_BY_DEFAULT,
  },
  'llama-cpp': {
    npm: [LLAMA_PACKAGE],
    kinds: ['llm', 'embedding'],
    capabilities: [
      'chat',
      'completions',
      'tools',
      'logprobs',
      'embeddings',
      'dimensions',
      'rerank',
    ],
    without: 'images, audio in prompts, LoRA, speculative decoding',
    devices: {
      cpu: '`device: cpu`',
      cuda: '`device: cuda` or `cuda:0`, after `switchyard gpu install llama-cpp`',
      vulkan: '`device: vulkan`, after `switchyard gpu install llama-cpp-vulkan`',
    },
  },
  ctranslate2: {
    kinds: ['stt'],
    capabilities: TRANSCRIPT_CAPABILITIES,
    without: 'streams; `diarize` needs two more models',
    devices: {
      cpu: '`--device cpu` in its command (default)',
      cuda: '`--device cuda:0`, after `switchyard engines install ctranslate2 --cuda`',
    },
  },
  external: {
    kinds: ['stt', 'tts', 'llm', 'embedding'],
    capabilities: [],
    devices: {},
    elsewhere: 'any device that your worker uses, for example speech synthesis on a GPU',
  },
  'openai-http': {
    kinds: ['stt', 'tts', 'llm', 'embedding'],
    capabilities: [],
    devices: {},
    elsewhere: 'any device that the server uses',
  },
  synthetic: {
    kinds: ['stt', 'tts', 'llm', 'embedding'],
    capabilities: [],
    devices: {},
    elsewhere: 'none: answers are scripted',
  },
};

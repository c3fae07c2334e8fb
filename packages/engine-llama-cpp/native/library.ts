import { type WireSampling } from '../protocol.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type * as LlamaPackage from 'node-llama-cpp';
import { type ChildSettings } from '../options.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { ownName } from '@switchyard/engine-api/own-name.js';

export const INSTALL = `${ownName()} engines install llama-cpp`;
const GPU_INSTALL = { cuda: 'llama-cpp', vulkan: 'llama-cpp-vulkan' } as const;

/**
 * The native side of node-llama-cpp, which its own classes keep to themselves: they draw
 * a token per call and sequence, and shift the context when it is full without a word.
 * Its shape belongs to one version, which is pinned.
 */
export interface NativeContext {
  initBatch(tokens: number): void;
  /** Places of the wanted logits in the batch. */
  addToBatch(
    sequence: number,
    position: number,
    tokens: Uint32Array,
    logitsOf: Uint32Array,
  ): Uint32Array;
  decodeBatch(): Promise<void>;
  /** Positions from `start` to before `end`; -1: to the last one. */
  removeTokenCellsFromSequence(sequence: number, start: number, end: number): boolean;
  disposeSequence(sequence: number): void;
  copySequenceStateFromOtherSequence(target: number, source: number): Promise<number>;
}

/** What computes and draws the tokens of a model. */
export interface Decoding {
  readonly context: NativeContext;
  newSampler(): NativeSampler;
  /** How far a sequence is in its grammar. @throws Error when the text cannot be read */
  grammarState(text: string): {
    /** As samplers take it. */
    readonly native: unknown;
    accept(token: number): void;
    dispose(): void;
  };
  /** Such as "llama 1B Q8_0". */
  readonly description: string;
}

/** How one token is drawn; what is absent is off. */
export interface DrawConfig {
  readonly temperature: number;
  readonly seed: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
  readonly penalties?: {
    readonly repeat: number;
    readonly frequency: number;
    readonly presence: number;
    /** The answer so far. */
    readonly tokens: Uint32Array;
  };
  readonly biases?: { readonly tokens: Uint32Array; readonly values: Float32Array };
  /** Of `grammarState`. */
  readonly grammar?: unknown;
}

/** Undefined: there are none. @param tokens the answer so far */
export function penaltiesOf(
  {
    repeatPenalty: repeat,
    frequencyPenalty: frequency,
    presencePenalty: presence,
  }: WireSampling,
  tokens: Uint32Array,
): DrawConfig['penalties'] {
  if (repeat === 1 && frequency === 0 && presence === 0) return undefined;
  return { repeat, frequency, presence, tokens };
}

/** `place`: of the logits, in the batch. */
export interface NativeSampler {
  draw(place: number, config: DrawConfig): Promise<number>;
  /** Logits as they are: of `tokens` and the likeliest one, or of the `top` likeliest. */
  look(
    place: number,
    tokens: readonly number[],
    top: number,
  ): Promise<{
    /** The likeliest token. */
    readonly most: number;
    /** By token. */
    readonly logits: ReadonlyMap<number, number>;
    /** Sum of e^(logit - highest logit). */
    readonly weight: number;
  }>;
}

interface AddonSampler {
  applyConfig(config: object): void;
}

interface NativeModel {
  tokenize(text: string, specialTokens: boolean): Uint32Array;
  getTokenString(token: number): string | undefined;
  getTokenAttributes(token: number): number;
  isEogToken(token: number): boolean;
  /** 1 SentencePiece, 2 byte-level BPE, 3 WordPiece, 4 unigram, 5 RWKV */
  getVocabularyType(): number;
  tokenBos(): number;
  tokenEos(): number;
  shouldPrependBosToken(): boolean;
  getModelDescription(): string;
}

interface NativeBindings {
  readonly AddonSampler: (new (model: NativeModel) => AddonSampler) & {
    acceptGrammarEvaluationStateToken(state: object, token: number): void;
  };
  readonly AddonGrammar: new (
    text: string,
    options: { addonExports: NativeBindings; rootRuleName: string },
  ) => object;
  readonly AddonGrammarEvaluationState: new (
    model: NativeModel,
    grammar: object,
  ) => object;
  readonly AddonJinjaRenderer: new (template: string) => {
    render(variables: Readonly<Record<string, unknown>>): string;
  };
  getIsArchRecurrent(architecture: string): boolean | undefined;
  getIsArchHybrid(architecture: string): boolean | undefined;
}

export interface OpenedModel {
  readonly bindings: NativeBindings;
  readonly native: NativeModel;
  readonly model: LlamaPackage.LlamaModel;
  /** Tokens. */
  readonly vocabularySize: number;
  /** "cpu", "cuda", "vulkan", "metal" */
  readonly device: string;
}

/**
 * @param vocabOnly without its weights
 * @throws Error that says what to install, or what is wrong with the file.
 */
export async function openModel(
  {
    modelFile,
    device,
    gpuLayers,
  }: Pick<ChildSettings, 'modelFile' | 'device' | 'gpuLayers'>,
  vocabOnly: boolean,
): Promise<OpenedModel> {
  const library = await loadPackage();
  const llama = await openLibrary(library, device);
  const layers = gpuLayers !== undefined && !vocabOnly && { gpuLayers };
  const loading = llama.loadModel({ modelPath: modelFile, vocabOnly, ...layers });
  const model = await loading.catch(async (error: unknown) => {
    await nextTurn();
    throw new Error(
      `${modelFile} cannot be loaded: ${loggedReason ?? errorMessage(error)}`,
      { cause: error },
    );
  });
  const { _bindings: bindings } = llama as unknown as {
    readonly _bindings: NativeBindings;
  };
  const { _model: native } = model as unknown as { readonly _model: NativeModel };
  return {
    bindings,
    native,
    model,
    vocabularySize: model.fileInfo.metadata.tokenizer.ggml.tokens.length,
    device: nameOf(llama),
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

/**
 * Loads the library for the device, and nothing else: "cpu", "cuda", ... @throws Error
 * that says what to install
 */
export async function openDevice(device: ChildSettings['device']): Promise<string> {
  return nameOf(await openLibrary(await loadPackage(), device));
}

const nameOf = ({ gpu }: LlamaPackage.Llama): string => gpu || 'cpu';

interface DividedContext extends NativeContext {
  setThreads(count: number): void;
  sampleToken(place: number, sampler: AddonSampler): Promise<number>;
  sampleToken(
    place: number,
    sampler: AddonSampler,
    probabilities: false,
    confidence: false,
    logits: readonly [
      tokens: readonly number[],
      max: false,
      min: false,
      selected: boolean,
      top: number,
    ],
    totalWeight: true,
  ): Promise<
    [most: number, probabilities: undefined, confidence: undefined, number[], number]
  >;
}

/**
 * The classes of node-llama-cpp, whose context gives each sequence
 * `contextTokens` of memory.
 * @param compile of a grammar; throws what is wrong with it
 */
export async function openDivided(
  { model, native, bindings }: OpenedModel,
  settings: ChildSettings,
  compile: (text: string) => object,
): Promise<Decoding> {
  const { AddonSampler, AddonGrammarEvaluationState } = bindings;
  const grammarState = (text: string) => {
    const state = new AddonGrammarEvaluationState(native, compile(text));
    const accept = (token: number): void =>
      AddonSampler.acceptGrammarEvaluationStateToken(state, token);
    return { native: state, accept, dispose: () => undefined };
  };
  const context = await openContext(model, settings);
  return {
    context,
    newSampler: () =>
      dividedSampler(context, new AddonSampler(native), settings.contextTokens),
    grammarState,
    description: native.getModelDescription(),
  };
}

async function openContext(
  model: LlamaPackage.LlamaModel,
  settings: ChildSettings,
): Promise<DividedContext> {
  const context = await model.createContext({
    sequences: settings.rows,
    contextSize: settings.contextTokens,
    batchSize: settings.stepTokens,
    threads: settings.batchThreads,
    // Both together: flash attention of 32 bit memory is no more exact than 16 bits are.
    ...(settings.exact && {
      experimentalKvCacheKeyType: 'F32',
      experimentalKvCacheValueType: 'F32',
      flashAttention: false,
    }),
    // Models with a sliding window forget what a later request could have gone on from.
    swaFullCache: true,
  });
  const { _ctx: native } = context as unknown as { readonly _ctx: DividedContext };
  const { threads, batchThreads } = settings;
  const begin = native.initBatch.bind(native);
  // It has one number for runs of all sizes.
  const initBatch = (tokens: number): void => {
    native.setThreads(tokens === 1 ? threads : batchThreads);
    begin(tokens);
  };
  return Object.defineProperty(native, 'initBatch', { value: initBatch });
}

/** @param contextTokens as far as penalties look back */
function dividedSampler(
  context: DividedContext,
  sampler: AddonSampler,
  contextTokens: number,
): NativeSampler {
  let lastSeed: number | undefined;
  return {
    draw: (place, config) => {
      const { seed, temperature } = config;
      const own = addonConfig(config, contextTokens);
      // A seed that is the last one's would go on with its generator instead of
      // starting it again.
      if (seed === lastSeed && temperature > 0)
        sampler.applyConfig({ ...own, seed: seed ^ 1 });
      sampler.applyConfig(own);
      lastSeed = seed;
      return context.sampleToken(place, sampler);
    },
    look: (place, tokens, top) => {
      lastSeed = 0;
      return look(context, sampler, place, tokens, top);
    },
  };
}

const addonConfig = (
  { penalties, biases, grammar, ...config }: DrawConfig,
  contextTokens: number,
): object => ({
  ...config,
  ...(penalties && {
    repeatPenalty: penalties.repeat,
    repeatPenaltyFrequencyPenalty: penalties.frequency,
    repeatPenaltyPresencePenalty: penalties.presence,
    repeatPenaltyTokens: penalties.tokens,
    repeatPenaltyMaxTokens: contextTokens,
  }),
  ...(biases && { tokenBiasKeys: biases.tokens, tokenBiasValues: biases.values }),
  ...(grammar !== undefined && { grammarEvaluationState: grammar }),
});

/** Its "confidence" would cost a sort of the whole vocabulary. */
async function look(
  context: DividedContext,
  sampler: AddonSampler,
  ...[place, tokens, top]: Parameters<NativeSampler['look']>
) {
  sampler.applyConfig(
    top > 0 ? { temperature: 1, topK: top, seed: 0 } : { temperature: 0, seed: 0 },
  );
  const wanted = [tokens, false, false, top === 0, top] as const;
  const [most, , , pairs, weight] = await context.sampleToken(
    place,
    sampler,
    false,
    false,
    wanted,
    true,
  );
  const logits = new Map<number, number>();
  for (let at = 0; at < pairs.length; at += 2) logits.set(pairs[at]!, pairs[at + 1]!);
  return { most, logits, weight };
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

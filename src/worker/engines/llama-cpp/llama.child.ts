import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { DomainError } from '../../../core/shared/domain-error.js';
import { grammarText } from './grammar/grammar-text.js';
import { type ChildInfo, type ChildSettings, type GrammarCheck, type LlamaOperations } from './llama-protocol.js';
import { type NativeModel, openContext, openModel } from './native/llama-library.js';
import { PromptEncoder } from './native/prompt-encoder.js';
import { Refusal } from './native/refusal.js';
import { SamplerPool } from './native/sampler-pool.js';
import { type ChildService, serveChild } from './native/serve-child.js';
import { StepRunner } from './native/step-runner.js';
import { vocabularyOf } from './native/token-text.js';
import { warmUp } from './native/warm-up.js';

/** Compiled grammars that are kept. */
const GRAMMARS = 32;

type Answers = {
  readonly [K in keyof LlamaOperations]: (
    request: LlamaOperations[K]['request'],
  ) => LlamaOperations[K]['reply'] | Promise<LlamaOperations[K]['reply']>;
};

serveChild(open);

async function open(settings: ChildSettings): Promise<ChildService<ChildInfo>> {
  const { size } = await stat(settings.modelFile);
  const { bindings, native, model, device } = await openModel(settings);
  const { rows, contextTokens, stepTokens, threads, exact } = settings;
  const shape = { sequences: rows, contextTokens, batchTokens: stepTokens, threads };
  const context = await openContext(model, { ...shape, exact });
  const costs = await warmUp(context, Math.max(0, native.tokenBos()), settings);
  const { metadata } = model.fileInfo;
  const vocabularySize = metadata.tokenizer.ggml.tokens.length;
  const template = metadata.tokenizer.chat_template;
  const encoder = new PromptEncoder({ bindings, model: native, vocabularySize, template, contextTokens });
  const grammar = grammarShelf(
    text => new bindings.AddonGrammar(text, { addonExports: bindings, rootRuleName: 'root' }),
  );
  const drawsInLine = settings.drawThreads === 1;
  const samplers = new SamplerPool(drawsInLine ? rows : settings.drawThreads, () => new bindings.AddonSampler(native));
  const runner = new StepRunner({ bindings, model: native, context, samplers, contextTokens, grammar, drawsInLine });
  const architecture = metadata.general.architecture;
  const answers: Answers = {
    step: frame => runner.run(frame),
    encode: prompt => encoder.encode(prompt),
    grammar: check => checked(check, grammar),
    vocabulary: () => vocabularyOf(native, vocabularySize),
  };
  const info: ChildInfo = {
    device,
    model: metadata.general.name ?? basename(settings.modelFile),
    revision: revisionOf(native, settings.modelFile, size),
    vocabularySize,
    trainedContextTokens: model.trainContextSize,
    chat: encoder.chat,
    toolCalls: encoder.toolCalls,
    cutsBack:
      !(bindings.getIsArchRecurrent(architecture) ?? false) && !(bindings.getIsArchHybrid(architecture) ?? false),
    costs,
  };
  return { info, operations: answers };
}

const revisionOf = (native: NativeModel, file: string, size: number): string =>
  `${basename(file)} (${native.getModelDescription()}, ${size} bytes)`;

function checked({ grammar, param }: GrammarCheck, compile: (text: string) => object): string {
  try {
    const text = grammarText(grammar);
    compile(text);
    return text;
  } catch (error) {
    if (error instanceof DomainError) throw new Refusal('invalid_value', error.message, error.param);
    const why = error instanceof Error ? error.message : String(error);
    throw new Refusal('invalid_value', `The grammar cannot be read: ${why}`, param);
  }
}

/** Requests of one application share a few grammars; the oldest goes when there are many. */
function grammarShelf(compile: (text: string) => object): (text: string) => object {
  const shelf = new Map<string, object>();
  return text => {
    const grammar = shelf.get(text) ?? compile(text);
    shelf.delete(text);
    shelf.set(text, grammar);
    const [oldest] = shelf.keys();
    if (shelf.size > GRAMMARS && oldest !== undefined) shelf.delete(oldest);
    return grammar;
  };
}

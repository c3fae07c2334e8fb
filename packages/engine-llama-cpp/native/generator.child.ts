import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { invalidValue } from '@switchyard/engine-api/coded-error.js';
import { GrammarError } from '@switchyard/json-schema-gbnf/grammar-error.js';
import { grammarText } from '../grammar-text.js';
import { CALL_MARKS } from '../tool-form.js';
import { type ChildInfo, type GrammarCheck, type LlamaOperations } from '../protocol.js';
import { type ChildSettings } from '../options.js';
import {
  type Decoding,
  type NativeContext,
  openDivided,
  type OpenedModel,
  openModel,
} from './library.js';
import { PromptEncoder } from './prompt-encoder.js';
import { SamplerPool } from './sequence-drawer.js';
import { serveChild } from './serve-child.js';
import { StepRunner } from './step-runner.js';
import { vocabularyOf } from './token-text.js';
import { openUnified } from './unified-context.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';

const MOST_TOKENS = 32;
const NONE = new Uint32Array(0);

/**
 * The first run of everything is slow; the second one is measured: what a token of a
 * prompt, and a copy of a sequence, cost.
 */
async function warmUp(
  context: NativeContext,
  token: number,
  { rows, stepTokens, contextTokens }: ChildSettings,
): Promise<ChildInfo['costs']> {
  // Twice as many, and two more, have to fit.
  const many = Math.min(MOST_TOKENS, stepTokens, Math.floor(contextTokens / 2) - 1);
  const computing = async (
    sequence: number,
    position: number,
    count: number,
  ): Promise<number> => {
    const beginMs = performance.now();
    context.initBatch(count);
    context.addToBatch(sequence, position, new Uint32Array(count).fill(token), NONE);
    await context.decodeBatch();
    return performance.now() - beginMs;
  };
  await computing(0, 0, many);
  const computeMs = (await computing(0, many, many)) / many;
  const copyMs = rows > 1 ? await copying(context, 2 * many, computing) : 0;
  for (let slot = 0; slot < Math.min(rows, 2); slot++) context.disposeSequence(slot);
  return { computeMs, copyMs };
}

/** The library only notes a copy; the next run makes it. */
async function copying(
  context: NativeContext,
  position: number,
  computing: (sequence: number, position: number, count: number) => Promise<number>,
): Promise<number> {
  const aloneMs = await computing(0, position, 1);
  await context.copySequenceStateFromOtherSequence(1, 0);
  return Math.max(0, (await computing(1, position + 1, 1)) - aloneMs);
}

/** Compiled grammars that are kept. */
const GRAMMARS = 32;

void serveChild(open);

async function open(settings: ChildSettings): Promise<{
  readonly info: ChildInfo;
  readonly operations: LlamaOperations;
}> {
  const { modelFile, rows, contextTokens } = settings;
  const { size } = await stat(modelFile);
  const opened = await openModel(settings, settings.kvTokens !== undefined);
  const { bindings, native, model, device } = opened;
  const grammar = grammarShelf(
    text =>
      new bindings.AddonGrammar(text, { addonExports: bindings, rootRuleName: 'root' }),
  );
  const decoding = await decodingOf(opened, settings, grammar);
  const costs = await warmUp(decoding.context, Math.max(0, native.tokenBos()), settings);
  const { metadata } = model.fileInfo;
  const vocabularySize = metadata.tokenizer.ggml.tokens.length;
  const template = metadata.tokenizer.chat_template;
  const prompts = { bindings, model: native, vocabularySize, template, contextTokens };
  const encoder = new PromptEncoder(prompts);
  const drawsInLine = settings.drawThreads === 1;
  const samplers = new SamplerPool(drawsInLine ? rows : settings.drawThreads, () =>
    decoding.newSampler(),
  );
  const runner = new StepRunner({ ...decoding, samplers, contextTokens, drawsInLine });
  const operations: LlamaOperations = {
    step: frame => runner.run(frame),
    encode: prompt => encoder.encode(prompt),
    grammar: check => checked(check, grammar),
    vocabulary: () => vocabularyOf(native, vocabularySize, CALL_MARKS[encoder.toolForm]),
  };
  const info: ChildInfo = {
    device,
    model: metadata.general.name ?? basename(modelFile),
    revision: `${basename(modelFile)} (${decoding.description}, ${size} bytes)`,
    ...encoder.traits,
    cutsBack: cutsBack(opened),
    costs,
  };
  return { info, operations };
}

function decodingOf(
  opened: OpenedModel,
  settings: ChildSettings,
  grammar: (text: string) => object,
): Decoding | Promise<Decoding> {
  const { kvTokens } = settings;
  return kvTokens === undefined
    ? openDivided(opened, settings, grammar)
    : openUnified({ ...settings, kvTokens }, opened.device !== 'cpu');
}

/** A recurrent state holds all that it has read: nothing can be taken out again. */
function cutsBack({ bindings, model }: OpenedModel): boolean {
  const { architecture } = model.fileInfo.metadata.general;
  return !(
    bindings.getIsArchRecurrent(architecture) || bindings.getIsArchHybrid(architecture)
  );
}

function checked(
  { grammar, param }: GrammarCheck,
  compile: (text: string) => object,
): string {
  try {
    const text = grammarText(grammar);
    compile(text);
    return text;
  } catch (error) {
    if (error instanceof GrammarError) throw invalidValue(error.message, error.param);
    const why = errorMessage(error);
    throw invalidValue(`The grammar cannot be read: ${why}`, param);
  }
}

/**
 * Requests of one application share a few grammars; the oldest goes when there are many.
 */
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

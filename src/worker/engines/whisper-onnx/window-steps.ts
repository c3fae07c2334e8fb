import { type DecodeGroup, type StepResult } from '../../../core/iteration/iteration-scheduler.js';
import { KvBatches } from './kv-batches.js';
import { writeWindow } from './log-mel.js';
import { likeliest, logSumExp } from './token-sampling.js';
import { type WhisperConfig } from './model-files.js';
import { type PromptRow, type WhisperModel } from './model.js';
import { type WhisperCounters } from './protocol.js';
import { type WhisperVocabulary } from './vocabulary.js';
import { type WindowTask } from './window-task.js';
import { alignmentTokens, alignWords } from './word-alignment.js';

export type Results = Map<WindowTask, StepResult>;

/** The native part of a step: which session runs a plan comes to, and what each row learns from them. */
export class WindowSteps {
  readonly #cache = new KvBatches<WindowTask>();
  readonly #counts = {
    ...{ encoderRuns: 0, windows: 0, prefillRuns: 0, detectRuns: 0 },
    ...{ decodeRuns: 0, decodedTokens: 0, alignRuns: 0 },
  };

  constructor(
    private readonly model: WhisperModel,
    private readonly vocabulary: WhisperVocabulary,
    private readonly config: WhisperConfig,
  ) {}

  get counters(): WhisperCounters {
    return { ...this.#counts };
  }

  forget(task: WindowTask): void {
    this.#cache.forget(task);
    task.hidden = undefined;
  }

  /** One decoder run for all rows of the group. */
  async decode({ members }: DecodeGroup<WindowTask>, results: Results): Promise<void> {
    const batch = this.#cache.batchOf(members);
    const tokens = batch.slots.map(task => task?.lastToken ?? this.vocabulary.endToken);
    const answer = await this.model.next(tokens, batch.tensors);
    this.#counts.decodeRuns += 1;
    this.#counts.decodedTokens += members.length;
    this.#cache.advance(batch, answer.cache);
    batch.slots.forEach((task, row) => {
      if (task !== undefined) results.set(task, advance(task, answer.scores(row, 0)));
    });
  }

  /** Those who join or start again: one encoder run, one run for unknown languages, one run over all prompts. */
  async prefill(tasks: readonly WindowTask[], results: Results): Promise<void> {
    await this.#encode(tasks.filter(({ hidden }) => hidden === undefined));
    await this.#detectLanguages(tasks.filter(({ job }) => job.language === ''));
    tasks.forEach(task => (task.prompt = task.job.prompt()));
    const answer = await this.model.prefill(tasks.map(task => promptRow(task, task.prompt)));
    this.#counts.prefillRuns += 1;
    tasks.forEach(task => this.#cache.forget(task));
    this.#cache.add(
      tasks,
      answer.cache,
      tasks.map(({ prompt }) => prompt.length),
    );
    tasks.forEach((task, row) => {
      const start = task.prompt.lastIndexOf(this.vocabulary.startToken);
      task.begin(this.#noSpeechProb(answer.scores(row, start)));
      results.set(task, advance(task, answer.scores(row, task.prompt.length - 1)));
    });
  }

  /** Word times of finished windows: one run over all their texts. */
  async align(tasks: readonly WindowTask[]): Promise<void> {
    const texts = tasks.map(task => this.#alignmentText(task));
    const rows = texts.map(({ start, tokens }, i) =>
      promptRow(tasks[i]!, alignmentTokens(start, tokens, this.vocabulary)),
    );
    const answer = await this.model.prefill(rows, 'attentions');
    this.#counts.alignRuns += 1;
    tasks.forEach((task, row) => {
      const { start, ...text } = texts[row]!;
      task.words = alignWords(answer, row, { ...text, prefix: start.length + 1 }, this.vocabulary);
    });
  }

  async #encode(tasks: readonly WindowTask[]): Promise<void> {
    if (tasks.length === 0) return;
    const { mels, windowFrames } = this.config;
    const features = new Float32Array(tasks.length * mels * windowFrames);
    tasks.forEach((task, row) => {
      const into = features.subarray(row * mels * windowFrames, (row + 1) * mels * windowFrames);
      writeWindow(task.job.request.mel, task.fromFrame, windowFrames, into);
    });
    const tensor = await this.model.encode(features, tasks.length);
    this.#counts.encoderRuns += 1;
    this.#counts.windows += tasks.length;
    tasks.forEach((task, row) => (task.hidden = { tensor, row }));
  }

  /** From the scores after the first token, among the languages only. */
  async #detectLanguages(tasks: readonly WindowTask[]): Promise<void> {
    if (tasks.length === 0) return;
    const rows = tasks.map(task => promptRow(task, [this.vocabulary.startToken]));
    const answer = await this.model.prefill(rows, 'nothing');
    this.#counts.detectRuns += 1;
    const languages = [...this.vocabulary.languages];
    tasks.forEach(({ job }, row) => {
      const scores = answer.scores(row, 0);
      const best = likeliest(Float32Array.from(languages, ([, token]) => scores[token]!));
      job.language = languages[best]![0];
    });
  }

  #noSpeechProb(scores: Float32Array): number {
    const { noSpeech } = this.vocabulary;
    return noSpeech === undefined ? 0 : Math.exp(scores[noSpeech]! - logSumExp(scores));
  }

  #alignmentText({ job, result }: WindowTask) {
    const indexes = result.tokens.flatMap((token, i) => (this.vocabulary.isText(token) ? [i] : []));
    return {
      start: this.vocabulary.startSequence(job.language, job.request.task),
      tokens: indexes.map(i => result.tokens[i]!),
      indexes,
      language: job.language,
      positions: job.positionsLeft,
    };
  }
}

function promptRow(task: WindowTask, tokens: readonly number[]): PromptRow {
  return { tokens, hidden: task.hidden! };
}

function advance(task: WindowTask, scores: Float32Array): StepResult {
  if (!task.take(scores)) return { type: 'continue', position: task.cached };
  return task.tryAgain() ? { type: 'restart' } : { type: 'finished' };
}

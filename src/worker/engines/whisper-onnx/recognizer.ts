import { DomainError } from '../../../core/shared/domain-error.js';
import {
  cancelledError,
  type EngineCapability,
  type EngineInfo,
  failed,
  type ItemOutcome,
  succeeded,
} from '../engine.js';
import {
  type PreparedAudio,
  type SpeechRecognizer,
  type TranscribeItem,
  type RecognizedTranscript,
  pcmOf,
} from '../speech-recognizer.js';
import { EngineThread, threadEntry } from '../threads/engine-thread.js';
import { CancelFlag } from '../threads/thread-protocol.js';
import { type LogMel } from './log-mel.js';
import { MelStage } from './mel-stage.js';
import { describeMemory } from './memory.js';
import { readWhisperFolder } from './model-files.js';
import { type WhisperOnnxOptions } from './options.js';
import {
  type JobOutcome,
  type WhisperCounters,
  type WhisperInfo,
  type WhisperJob,
  type WhisperProtocol,
  type WhisperThreadData,
} from './protocol.js';

/** Refuses what this model could only ignore: every accepted field acts. */
function requireSupported(item: TranscribeItem, model: WhisperInfo): void {
  languageOf(item, model);
  if (item.task === 'translate' && !model.multilingual && item.language !== '' && !/^en\b/i.test(item.language)) {
    throw new DomainError('unsupported_task', 'This Whisper model knows English only and cannot translate.');
  }
  if (item.wordTimestamps && !model.wordTimestamps) {
    const why = 'This Whisper model was exported without cross attentions and has no times of words';
    throw new DomainError('unsupported_parameter', `${why}; leave \`word\` out of \`timestamp_granularities\`.`, {
      param: 'timestamp_granularities',
    });
  }
  if (item.diarize) {
    throw new DomainError('unsupported_parameter', 'Whisper does not tell speakers apart.', {
      param: 'response_format',
    });
  }
}

/** The model's code of the language asked for: `en-US` → `en`; empty: to be detected. */
function languageOf({ language }: TranscribeItem, model: WhisperInfo): string {
  const code = language.toLowerCase().split(/[-_]/, 1)[0] ?? '';
  if (code === '' || model.languages.includes(code)) return code;
  const allowed = model.languages.join(', ');
  throw new DomainError(
    'invalid_value',
    `This Whisper model does not know the language '${language}'; allowed: ${allowed}`,
    {
      param: 'language',
    },
  );
}

/** What `load()` brings: the model's thread, the feature threads, and what the model is. */
interface Loaded {
  readonly model: EngineThread<WhisperProtocol, WhisperInfo>;
  readonly mel: MelStage;
  readonly info: WhisperInfo;
}

/**
 * Whisper on ONNX Runtime, windows of many files in one encoder run and one decode loop. All native work and all
 * sampling is on threads; this side checks items and passes features, flags and segments.
 */
export class WhisperOnnxRecognizer implements SpeechRecognizer {
  readonly kind = 'stt';
  readonly input = 'pcm';
  readonly #prepared = new WeakMap<PreparedAudio, LogMel>();
  readonly #flags = new Set<CancelFlag>();
  #loaded: Promise<Loaded> | undefined;
  #known: WhisperInfo | undefined;
  #closed: Promise<void> | undefined;

  constructor(private readonly options: WhisperOnnxOptions) {}

  get info(): EngineInfo {
    const capabilities: EngineCapability[] = ['transcribe', 'prompt', 'hot_words', 'temperature', 'logprobs'];
    if (this.#known?.multilingual) capabilities.push('translate');
    if (this.#known?.wordTimestamps) capabilities.push('word_timestamps');
    return {
      engine: 'whisper-onnx',
      device: this.options.device,
      revision: this.#known?.revision ?? '',
      maxBatch: this.options.maxBatch,
      maxConcurrent: this.options.maxConcurrent,
      ...(this.#known && { callMs: this.#known.callMs }),
      streams: 0,
      capabilities,
      languages: this.#known?.languages ?? [],
    };
  }

  checkFiles(): string {
    return describeMemory(readWhisperFolder(this.options).memory, this.options.maxBatch);
  }

  async load(): Promise<void> {
    this.#known = (await (this.#loaded ??= this.#load())).info;
  }

  /** The features of one item, so that the device finds them ready. */
  async prepare(audio: PreparedAudio, signal: AbortSignal): Promise<void> {
    if (audio.kind !== 'pcm' || this.#prepared.has(audio)) return;
    const { mel } = await this.#use();
    const features = await mel.extract(audio.samples, signal);
    signal.throwIfAborted();
    if (features !== undefined) this.#prepared.set(audio, features);
  }

  async transcribe(batch: readonly TranscribeItem[]): Promise<readonly ItemOutcome<RecognizedTranscript>[]> {
    const flags = batch.map(() => new CancelFlag());
    const release = batch.map((item, i) => this.#follow(item.signal, flags[i]!));
    try {
      const jobs = await Promise.all(batch.map((item, i) => this.#job(item, flags[i]!)));
      return await this.#run(batch, jobs);
    } catch (error) {
      return batch.map(() => failed(error));
    } finally {
      release.forEach(stop => stop());
    }
  }

  /** Session runs since load: the proof of the batching. */
  async counters(): Promise<WhisperCounters> {
    return (await this.#use()).model.call('counters', undefined);
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #load(): Promise<Loaded> {
    const data: WhisperThreadData = this.options;
    const entry = threadEntry('./recognizer.thread.js', import.meta.url);
    const model = new EngineThread<WhisperProtocol, WhisperInfo>({ entry, name: 'whisper-onnx', data });
    const info = await model.ready;
    const mel = new MelStage(info.mels, this.options.melThreads);
    await mel.start();
    return { model, mel, info };
  }

  #use(): Promise<Loaded> {
    if (this.#closed !== undefined || this.#loaded === undefined) {
      throw new DomainError('engine_failed', 'The engine is not loaded, or closed.');
    }
    return this.#loaded;
  }

  /** An item is a job for the model's thread, or has its outcome already. */
  async #job(item: TranscribeItem, flag: CancelFlag): Promise<WhisperJob | ItemOutcome<RecognizedTranscript>> {
    try {
      const { mel, info } = await this.#use();
      requireSupported(item, info);
      const features = this.#prepared.get(item.audio) ?? (await mel.extract(pcmOf(item, 'Whisper'), item.signal));
      // Moved to the model's thread below, and gone from here.
      this.#prepared.delete(item.audio);
      if (features === undefined || item.signal.aborted) return failed(cancelledError(item.requestId));
      const { requestId, task, prompt, temperature, wordTimestamps } = item;
      return {
        ...{ requestId, task, prompt, temperature, wordTimestamps, mel: features, durationS: item.audio.durationS },
        language: languageOf(item, info),
        hotWords: item.hotWords ?? [],
        logprobs: item.logprobs ?? false,
        cancel: flag.memory,
      };
    } catch (error) {
      return failed(error);
    }
  }

  async #run(
    batch: readonly TranscribeItem[],
    jobs: readonly (WhisperJob | ItemOutcome<RecognizedTranscript>)[],
  ): Promise<ItemOutcome<RecognizedTranscript>[]> {
    const places = jobs.flatMap((job, i) => ('ok' in job ? [] : [i]));
    const real = jobs.filter((job): job is WhisperJob => !('ok' in job));
    const { model } = await this.#use();
    const answers =
      real.length === 0
        ? []
        : await model.call('transcribe', real, {
            transfer: [...new Set(real.map(job => job.mel.values.buffer as ArrayBuffer))],
            onNotice: ({ job, segment, words }) => batch[places[job]!]!.onSegment?.(segment, words),
          });
    const outcomes = new Map(places.map((place, i) => [place, answers[i]!]));
    return jobs.map((job, i) => ('ok' in job ? job : outcomeOf(batch[i]!, outcomes.get(i)!)));
  }

  #follow(signal: AbortSignal, flag: CancelFlag): () => void {
    const raise = (): void => flag.raise();
    if (signal.aborted) raise();
    signal.addEventListener('abort', raise, { once: true });
    this.#flags.add(flag);
    return () => {
      this.#flags.delete(flag);
      signal.removeEventListener('abort', raise);
    };
  }

  async #close(): Promise<void> {
    for (const flag of this.#flags) flag.raise();
    const loaded = await this.#loaded?.catch(() => undefined);
    if (loaded !== undefined) await Promise.all([loaded.mel.close(), loaded.model.close()]);
  }
}

function outcomeOf(item: TranscribeItem, answer: JobOutcome): ItemOutcome<RecognizedTranscript> {
  if (answer.type === 'cancelled' || item.signal.aborted) return failed(cancelledError(item.requestId));
  if (answer.type === 'failed') return failed(new DomainError('engine_failed', `whisper-onnx: ${answer.message}`));
  return succeeded(answer.transcript);
}

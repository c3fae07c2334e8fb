import { existsSync } from 'node:fs';
import { type KnownVoice } from '@switchyard/engine-api/speech-recognizer.js';
import { EngineThread, threadEntry } from '@switchyard/engine-api/threads/engine-thread.js';
import { shareSamples } from '@switchyard/engine-api/threads/shared-memory.js';
import { readOnnxMetadata } from './onnx-file.js';
import { type readDiarizationOptions } from './options.js';
import { type DiarizerThread, type NamedTurn } from './protocol.js';
import { speakerOf } from './speaker-turns.js';

/**
 * Who speaks when, on a thread of its own: the library tells speakers apart in one go
 * that cannot be stopped.
 */
export class SherpaDiarizer {
  #thread: EngineThread<DiarizerThread> | undefined;
  /** Ends with the file before. Files wait for it, where a cancel reaches them. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly options: NonNullable<ReturnType<typeof readDiarizationOptions>>,
    private readonly threads = 1,
  ) {}

  /**
   * @throws Error that names the first model that is missing or damaged: the library
   *   would end the process
   */
  checkFiles(): void {
    const { segmentationModel, embeddingModel } = this.options;
    for (const [option, file] of Object.entries({ segmentationModel, embeddingModel })) {
      if (!existsSync(file))
        throw new Error(`The model ${file} does not exist (options.${option}).`);
      readOnnxMetadata(file);
    }
  }

  async load(): Promise<void> {
    this.checkFiles();
    this.#thread ??= new EngineThread(
      threadEntry('./diarizer.thread.js', import.meta.url),
      'sherpa-onnx diarizer',
      this.#threadData,
    );
    await this.#thread.ready;
  }

  async turnsOf(pcm: Int16Array, known: readonly KnownVoice[]): Promise<readonly NamedTurn[]> {
    if (!this.#thread) throw new Error('the diarizer is not loaded');
    const samples = await shareSamples(pcm);
    return this.#thread.call('diarize', { samples, known });
  }

  /** Rejects when `signal` aborts before the call begins. */
  async speakersOf(
    samples: Int16Array,
    known: readonly KnownVoice[],
    signal: AbortSignal,
  ): Promise<(span: Parameters<typeof speakerOf>[0]) => string> {
    const turns = this.#turn.then(() => {
      signal.throwIfAborted();
      return this.turnsOf(samples, known);
    });
    this.#turn = turns.catch(() => undefined);
    const found = await turns;
    return span => speakerOf(span, found);
  }

  async close(): Promise<void> {
    await this.#thread?.close();
  }

  get #threadData(): DiarizerThread['data'] {
    const { segmentationModel, embeddingModel, clusterThreshold, knownThreshold } = this.options;
    const runtime = { numThreads: this.threads, provider: 'cpu', debug: 0 };
    const embedding = { model: embeddingModel, ...runtime };
    const config = {
      segmentation: { pyannote: { model: segmentationModel }, ...runtime },
      embedding,
      clustering: { numClusters: -1, threshold: clusterThreshold },
      minDurationOn: 0.2,
      minDurationOff: 0.5,
    };
    return { config, embedding, leastLikeness: knownThreshold };
  }
}

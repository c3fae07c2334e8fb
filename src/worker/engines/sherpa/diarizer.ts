import { existsSync } from 'node:fs';
import { Semaphore } from '../../../core/shared/semaphore.js';
import { type KnownVoice, type SpeakerOf } from '../speech-recognizer.js';
import { EngineThread, threadEntry } from '../threads/engine-thread.js';
import { shareSamples } from '../threads/thread-protocol.js';
import { readOnnxMetadata } from './model-files.js';
import { type DiarizerProtocol, type DiarizerThreadData, type NamedTurn } from './protocol.js';
import { speakerOf } from './speaker-turns.js';

export interface DiarizationOptions {
  /** A pyannote segmentation model. */
  readonly segmentationModel: string;
  /** A speaker embedding model: 3D-Speaker, WeSpeaker, NeMo. */
  readonly embeddingModel: string;
  /** Distance of voices from which on they are two speakers, 0..1: higher finds fewer. */
  readonly clusterThreshold: number;
  /** Likeness from which on a speaker is a known one, 0..1. */
  readonly knownThreshold: number;
}

/** @throws Error that names the first model that is missing or damaged: the library would end the process */
export function checkDiarizationFiles({ segmentationModel, embeddingModel }: DiarizationOptions): void {
  for (const [option, file] of Object.entries({ segmentationModel, embeddingModel })) {
    if (!existsSync(file)) throw new Error(`The model ${file} does not exist (options.${option}).`);
    readOnnxMetadata(file);
  }
}

/** Who speaks when, on a thread of its own: the library tells speakers apart in one go that cannot be stopped. */
export class SherpaDiarizer {
  readonly #thread: EngineThread<DiarizerProtocol>;
  /** Files wait here, where a cancel reaches them. */
  readonly #turn = new Semaphore(1);

  /** @throws as `checkDiarizationFiles` */
  constructor(options: DiarizationOptions, threads = 1) {
    checkDiarizationFiles(options);
    const runtime = { numThreads: threads, provider: 'cpu', debug: 0 };
    const embedding = { model: options.embeddingModel, ...runtime };
    const config = {
      segmentation: { pyannote: { model: options.segmentationModel }, ...runtime },
      embedding,
      clustering: { numClusters: -1, threshold: options.clusterThreshold },
      minDurationOn: 0.2,
      minDurationOff: 0.5,
    };
    const data: DiarizerThreadData = { config, embedding, leastLikeness: options.knownThreshold };
    const entry = threadEntry('./diarizer.thread.js', import.meta.url);
    this.#thread = new EngineThread({ entry, name: 'sherpa-onnx diarizer', data });
  }

  get ready(): Promise<unknown> {
    return this.#thread.ready;
  }

  async turnsOf(pcm: Int16Array, known: readonly KnownVoice[]): Promise<readonly NamedTurn[]> {
    const samples = await shareSamples(pcm);
    return this.#thread.call('diarize', {
      samples,
      known: known.map(({ name, samples: voice }) => ({ name, samples: voice })),
    });
  }

  /** Rejects when `signal` aborts before its turn has come. */
  async speakersOf(samples: Int16Array, known: readonly KnownVoice[], signal: AbortSignal): Promise<SpeakerOf> {
    const turn = await this.#turn.acquire(signal);
    try {
      const turns = await this.turnsOf(samples, known);
      return span => speakerOf(span, turns);
    } finally {
      turn.release();
    }
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}

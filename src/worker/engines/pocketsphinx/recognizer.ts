import { DomainError } from '../../../core/shared/domain-error.js';
import {
  type EngineInfo,
  type ItemOutcome,
  type RecognizerStream,
  type RecognizerStreamOptions,
  type SpeechRecognizer,
  type TranscribeItem,
  type Transcript,
} from '../engine.js';
import { cancelledError, failed, succeeded } from '../item-outcome.js';
import { EngineThread } from '../threads/engine-thread.js';
import { threadEntry } from '../threads/thread-entry.js';
import { CancelFlag, type ThreadProtocol } from '../threads/thread-protocol.js';
import { ThreadPool } from '../threads/thread-pool.js';
import { type DecodedWord } from './decoded-word.js';
import { type DecoderThreadData, type FileDecoderProtocol, type LiveDecoderProtocol } from './decoder-protocol.js';
import { requireEnglish, requireSupported, samplesOf } from './item-checks.js';
import { modelRevision } from './model-files.js';
import { type PocketSphinxOptions } from './pocketsphinx-options.js';
import { PocketSphinxStream } from './recognizer-stream.js';
import { shareSamples } from '../threads/shared-samples.js';
import { toTranscript } from './transcript-segments.js';

const NO_SPEECH: readonly DecodedWord[] = [];

/** English speech recognition on the CPU. All native work runs on threads; this side only passes samples and flags. */
export class PocketSphinxRecognizer implements SpeechRecognizer {
  readonly kind = 'stt';
  readonly input = 'pcm';
  /** Longer audio is cut into utterances of this length all the same; as windows they leave the device to others in between. */
  readonly longestItemS = 15;
  readonly #files: ThreadPool<FileDecoderProtocol>;
  readonly #live: ThreadPool<LiveDecoderProtocol>;
  readonly #cancels = new Set<CancelFlag>();
  readonly #streams = new Set<PocketSphinxStream>();
  #revision = '';
  #loaded: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(private readonly options: PocketSphinxOptions) {
    const data: DecoderThreadData = { modelDir: options.modelDir };
    this.#files = new ThreadPool(options.threads, () => startThread('./file-decoder.thread.js', data));
    this.#live = new ThreadPool(options.streams, () => startThread('./live-decoder.thread.js', data));
  }

  get info(): EngineInfo {
    return {
      engine: 'pocketsphinx',
      device: 'cpu',
      revision: this.#revision,
      maxBatch: this.options.threads,
      maxConcurrent: 1,
      streams: this.options.streams,
      capabilities: ['transcribe', 'word_timestamps', ...(this.options.streams > 0 ? (['stream'] as const) : [])],
      languages: ['en'],
    };
  }

  load(): Promise<void> {
    return (this.#loaded ??= this.#load());
  }

  transcribe(batch: readonly TranscribeItem[]): Promise<readonly ItemOutcome<Transcript>[]> {
    return Promise.all(batch.map(item => this.#outcome(item)));
  }

  async openStream(options: RecognizerStreamOptions): Promise<RecognizerStream> {
    requireEnglish(options.language);
    if (this.#live.available === 0) {
      throw new DomainError('queue_full', `All ${this.options.streams} live streams of this worker are in use.`);
    }
    const thread = await this.#live.acquire();
    const stream = new PocketSphinxStream(thread, options.partials, () => {
      this.#streams.delete(stream);
      this.#live.release(thread);
    });
    this.#streams.add(stream);
    return stream;
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #load(): Promise<void> {
    const warm = Array.from({ length: this.options.threads }, () => this.#files.acquire());
    const [revision, ...threads] = await Promise.allSettled([modelRevision(this.options.modelDir), ...warm]);
    for (const thread of threads) if (thread.status === 'fulfilled') this.#files.release(thread.value);
    const broken = [revision, ...threads].find(result => result.status === 'rejected');
    if (broken) throw broken.reason;
    if (revision.status === 'fulfilled') this.#revision = revision.value;
  }

  async #close(): Promise<void> {
    for (const flag of this.#cancels) flag.raise();
    await Promise.all([...this.#streams].map(stream => stream.close()));
    await Promise.all([this.#files.close(), this.#live.close()]);
  }

  async #outcome(item: TranscribeItem): Promise<ItemOutcome<Transcript>> {
    try {
      requireSupported(item);
      const words = await this.#decode(item);
      if (words === undefined || item.signal.aborted) return failed(cancelledError(item.requestId));
      return succeeded(toTranscript(words, item.wordTimestamps));
    } catch (error) {
      return failed(error);
    }
  }

  async #decode(item: TranscribeItem): Promise<readonly DecodedWord[] | undefined> {
    if (item.signal.aborted) return undefined;
    const pcm = samplesOf(item);
    if (pcm.length === 0) return NO_SPEECH;
    const flag = new CancelFlag();
    const raise = (): void => flag.raise();
    item.signal.addEventListener('abort', raise, { once: true });
    this.#cancels.add(flag);
    try {
      const samples = await shareSamples(pcm);
      return await this.#files.use(thread => thread.call('decode', { samples, cancel: flag.memory }));
    } finally {
      this.#cancels.delete(flag);
      item.signal.removeEventListener('abort', raise);
    }
  }
}

function startThread<P extends ThreadProtocol<P>>(entry: string, data: DecoderThreadData): EngineThread<P> {
  return new EngineThread<P>({ entry: threadEntry(entry, import.meta.url), name: 'pocketsphinx', data });
}

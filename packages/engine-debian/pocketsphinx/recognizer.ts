import { EngineError } from '@switchyard/engine-api/coded-error.js';
import {
  cancelledError,
  type EngineInfo,
  failed,
  type ItemOutcome,
  succeeded,
} from '@switchyard/engine-api/engine.js';
import { type RecognizerEvent } from '@switchyard/engine-api/speech-recognizer.js';
import {
  type RecognizerStream,
  type RecognizerStreamOptions,
  type SpeechRecognizer,
  type TranscribeItem,
  type RecognizedTranscript,
  pcmOf,
} from '@switchyard/engine-api/speech-recognizer.js';
import {
  EngineThread,
  threadEntry,
} from '@switchyard/engine-api/threads/engine-thread.js';
import { ThreadPool } from '../threads/thread-pool.js';
import {
  CancelFlag,
  shareSamples,
  type ThreadProtocol,
} from '@switchyard/engine-api/threads/thread-protocol.js';
import {
  type DecodedWord,
  type DecoderThreadData,
  type FileDecoderProtocol,
  type LiveDecoderProtocol,
} from './protocol.js';
import { modelRevision } from './model-files.js';
import { type PocketSphinxOptions } from './options.js';
import { toTranscript } from './transcript-segments.js';

/**
 * A live stream on a decoder thread of its own; the thread goes back for reuse when
 * the stream closes.
 */
class PocketSphinxStream implements RecognizerStream {
  readonly #cancel = new CancelFlag();
  #closed: Promise<void> | undefined;

  constructor(
    private readonly thread: EngineThread<LiveDecoderProtocol>,
    partials: boolean,
    private readonly release: () => void,
  ) {
    // Not waited for: the thread may still be ending the utterance of a stream that was
    // cancelled. One that died says so to `push`.
    this.thread
      .call('open', { partials, cancel: this.#cancel.memory })
      .catch(() => undefined);
  }

  async push(samples: Int16Array): Promise<readonly RecognizerEvent[]> {
    this.#requireOpen();
    const own = samples.slice();
    return this.thread.call('push', { samples: own }, { transfer: [own.buffer] });
  }

  async commit(): Promise<readonly RecognizerEvent[]> {
    this.#requireOpen();
    return this.thread.call('commit', undefined);
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#cancel.raise();
    // A thread that died has nothing to close; the pool replaces it.
    await this.thread.call('close', undefined).catch(() => undefined);
    this.release();
  }

  #requireOpen(): void {
    if (this.#closed) throw new EngineError('engine_failed', 'The stream is closed.');
  }
}

/** Refuses what this engine could only ignore: every accepted field acts. */
function requireSupported(item: TranscribeItem): void {
  requireEnglish(item.language);
  if (item.prompt !== '') throw cannot('prompt', 'takes no prompt; leave `prompt` out');
  if (item.temperature !== 0)
    throw cannot(
      'temperature',
      'always answers the likeliest words; leave `temperature` at 0',
    );
}

/**
 * English or undeclared. A translation into English of English speech is its transcript,
 * so `translate` needs no more.
 */
function requireEnglish(language: string): void {
  if (language === '' || /^en(glish)?([-_]|$)/i.test(language)) return;
  throw new EngineError(
    'invalid_value',
    `PocketSphinx recognises English only; language is '${language}', allowed: en`,
    {
      param: 'language',
    },
  );
}

function cannot(param: string, why: string): EngineError {
  return new EngineError('unsupported_parameter', `PocketSphinx ${why}`, { param });
}

const NO_SPEECH: readonly DecodedWord[] = [];

/**
 * English speech recognition on the CPU. All native work runs on threads; this side only
 * passes samples and flags.
 */
export class PocketSphinxRecognizer implements SpeechRecognizer {
  readonly kind = 'stt';
  readonly input = 'pcm';
  /**
   * Longer audio is cut into utterances of this length all the same; as windows they
   * leave the device to others in between.
   */
  readonly longestItemS = 15;
  readonly #files: ThreadPool<FileDecoderProtocol>;
  readonly #live: ThreadPool<LiveDecoderProtocol>;
  readonly #cancels = new Set<CancelFlag>();
  readonly #streams = new Set<PocketSphinxStream>();
  #revision = '';
  #loaded: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(private readonly options: PocketSphinxOptions) {
    const data: DecoderThreadData = {
      modelDir: options.modelDir,
      besideStreams: options.streams > 0,
    };
    this.#files = new ThreadPool(options.threads, () =>
      startThread('./file-decoder.thread.js', data),
    );
    this.#live = new ThreadPool(options.streams, () =>
      startThread('./live-decoder.thread.js', data),
    );
  }

  get info(): EngineInfo {
    return {
      engine: 'pocketsphinx',
      device: 'cpu',
      revision: this.#revision,
      maxBatch: this.options.threads,
      maxConcurrent: 1,
      streams: this.options.streams,
      capabilities: [
        'transcribe',
        'word_timestamps',
        ...(this.options.streams > 0 ? (['stream'] as const) : []),
      ],
      languages: ['en'],
    };
  }

  load(): Promise<void> {
    return (this.#loaded ??= this.#load());
  }

  transcribe(
    batch: readonly TranscribeItem[],
  ): Promise<readonly ItemOutcome<RecognizedTranscript>[]> {
    return Promise.all(batch.map(item => this.#outcome(item)));
  }

  async openStream(options: RecognizerStreamOptions): Promise<RecognizerStream> {
    requireEnglish(options.language);
    if (this.#live.available === 0) {
      throw new EngineError(
        'queue_full',
        `All ${this.options.streams} live streams of this worker are in use.`,
      );
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
    const warm = Array.from({ length: this.options.threads }, () =>
      this.#files.acquire(),
    );
    const [revision, ...threads] = await Promise.allSettled([
      modelRevision(this.options.modelDir),
      ...warm,
    ]);
    for (const thread of threads)
      if (thread.status === 'fulfilled') this.#files.release(thread.value);
    const broken = [revision, ...threads].find(result => result.status === 'rejected');
    if (broken) throw broken.reason;
    if (revision.status === 'fulfilled') this.#revision = revision.value;
  }

  async #close(): Promise<void> {
    for (const flag of this.#cancels) flag.raise();
    await Promise.all([...this.#streams].map(stream => stream.close()));
    await Promise.all([this.#files.close(), this.#live.close()]);
  }

  async #outcome(item: TranscribeItem): Promise<ItemOutcome<RecognizedTranscript>> {
    try {
      requireSupported(item);
      const words = await this.#decode(item);
      if (words === undefined || item.signal.aborted)
        return failed(cancelledError(item.requestId));
      return succeeded(toTranscript(words, item.wordTimestamps));
    } catch (error) {
      return failed(error);
    }
  }

  async #decode(item: TranscribeItem): Promise<readonly DecodedWord[] | undefined> {
    if (item.signal.aborted) return undefined;
    const pcm = pcmOf(item, 'PocketSphinx');
    if (pcm.length === 0) return NO_SPEECH;
    const flag = new CancelFlag();
    const raise = (): void => flag.raise();
    item.signal.addEventListener('abort', raise, { once: true });
    this.#cancels.add(flag);
    try {
      const samples = await shareSamples(pcm);
      return await this.#files.use(thread =>
        thread.call('decode', { samples, cancel: flag.memory }),
      );
    } finally {
      this.#cancels.delete(flag);
      item.signal.removeEventListener('abort', raise);
    }
  }
}

function startThread<P extends ThreadProtocol<P>>(
  entry: string,
  data: DecoderThreadData,
): EngineThread<P> {
  return new EngineThread<P>({
    entry: threadEntry(entry, import.meta.url),
    name: 'pocketsphinx',
    data,
  });
}

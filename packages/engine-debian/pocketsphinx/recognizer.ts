import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { EngineError, invalidValue } from '@switchyard/engine-api/coded-error.js';
import {
  type EngineModel,
  integerOption,
  type OptionsOf,
  readOptions,
  textOption,
} from '@switchyard/engine-api/engine-options.js';
import {
  cancelledError,
  type EngineInfo,
  failed,
  type ItemOutcome,
  succeeded,
} from '@switchyard/engine-api/engine.js';
import {
  type RecognizerStream,
  type RecognizerStreamOptions,
  type SpeechRecognizer,
  type TranscribeItem,
  type TranscriptWord,
  type RecognizedTranscript,
  pcmOf,
  requirePlain,
} from '@switchyard/engine-api/speech-recognizer.js';
import { EngineThread, threadEntry } from '@switchyard/engine-api/threads/engine-thread.js';
import { type NativeThread } from '@switchyard/engine-api/threads/remote-calls.js';
import {
  CancelFlag,
  CancelFlags,
  shareSamples,
} from '@switchyard/engine-api/threads/shared-memory.js';
import { threadStream } from '@switchyard/engine-api/threads/thread-stream.js';
import { ThreadPool } from '../threads/thread-pool.js';
import { findModelFiles } from './model-files.js';
import { type FileDecoderThread, type LiveDecoderThread } from './protocol.js';
import { toTranscript } from './transcript-segments.js';

/**
 * A group of one is no group: more than 8 would cost memory that a small machine
 * does not have.
 */
const ALL_CORES = Math.min(8, availableParallelism());

const OPTIONS = {
  // Files decoded at the same time, one decoder thread of about 100 MB each; also the
  // largest group.
  threads: integerOption(1, 64, ALL_CORES),
  // Live streams at the same time, about 100 MB each, started when first used.
  streams: integerOption(0, 64, 2),
  // Folder with `en-us/` (acoustic model), `en-us.lm.bin` and `cmudict-en-us.dict`.
  modelDir: textOption('/usr/share/pocketsphinx/model/en-us'),
};

/**
 * English or undeclared. A translation into English of English speech is its transcript,
 * so `translate` needs no more.
 */
function requireEnglish(language: string): void {
  if (language === '' || /^en(glish)?([-_]|$)/i.test(language)) return;
  throw invalidValue(
    `PocketSphinx recognises English only; language is '${language}', allowed: en`,
    'language',
  );
}

const cannot = (param: string, why: string): EngineError =>
  new EngineError('unsupported_parameter', `PocketSphinx ${why}`, { param });

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
  readonly #files: ThreadPool<FileDecoderThread>;
  readonly #live: ThreadPool<LiveDecoderThread>;
  readonly #cancels = new CancelFlags();
  readonly #streams = new Set<RecognizerStream>();
  #revision = '';
  #loaded: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  readonly #options: OptionsOf<typeof OPTIONS>;

  /** @throws EngineOptionsError */
  constructor(model: EngineModel) {
    const options = readOptions(model, OPTIONS);
    this.#options = options;
    const { modelDir } = options;
    const data = { modelDir, besideStreams: options.streams > 0 };
    this.#files = new ThreadPool(options.threads, () =>
      startThread('./file-decoder.thread.js', data),
    );
    this.#live = new ThreadPool(options.streams, () =>
      startThread('./live-decoder.thread.js', { modelDir }),
    );
  }

  get info(): EngineInfo {
    return {
      engine: 'pocketsphinx',
      device: 'cpu',
      revision: this.#revision,
      maxBatch: this.#options.threads,
      maxConcurrent: 1,
      streams: this.#options.streams,
      capabilities: [
        'transcribe',
        'word_timestamps',
        ...(this.#options.streams > 0 ? (['stream'] as const) : []),
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
        `All ${this.#options.streams} live streams of this worker are in use.`,
      );
    }
    const thread = await this.#live.acquire();
    const cancel = new CancelFlag();
    // Not waited for: the thread may still be ending the utterance of a stream that was
    // cancelled. One that died says so to `push`.
    thread
      .call('open', { partials: options.partials, cancel: cancel.memory })
      .catch(() => undefined);
    const stream = threadStream({
      push: samples => thread.call('push', samples, { transfer: [samples.buffer] }),
      commit: () => thread.call('commit', undefined),
      close: async () => {
        cancel.raise();
        // A thread that died has nothing to close; the pool replaces it.
        await thread.call('close', undefined).catch(() => undefined);
        this.#streams.delete(stream);
        this.#live.release(thread);
      },
    });
    this.#streams.add(stream);
    return stream;
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #load(): Promise<void> {
    const { threads, modelDir } = this.#options;
    const started = Array.from({ length: threads }, () => this.#files.use(thread => thread.ready));
    const [revision] = await Promise.all([modelRevision(modelDir), ...started]);
    this.#revision = revision;
  }

  async #close(): Promise<void> {
    this.#cancels.raiseAll();
    await Promise.all([...this.#streams].map(stream => stream.close()));
    await Promise.all([this.#files.close(), this.#live.close()]);
  }

  async #outcome(item: TranscribeItem): Promise<ItemOutcome<RecognizedTranscript>> {
    try {
      requireEnglish(item.language);
      requirePlain(item, cannot);
      const words = await this.#decode(item);
      if (words === undefined || item.signal.aborted) return failed(cancelledError(item.requestId));
      return succeeded(toTranscript(words, item.wordTimestamps));
    } catch (error) {
      return failed(error);
    }
  }

  async #decode(item: TranscribeItem): Promise<readonly TranscriptWord[] | undefined> {
    if (item.signal.aborted) return undefined;
    const pcm = pcmOf(item, 'PocketSphinx');
    if (pcm.length === 0) return [];
    return this.#cancels.during(item.signal, async ({ memory }) => {
      const samples = await shareSamples(pcm);
      return this.#files.use(thread => thread.call('decode', { samples, cancel: memory }));
    });
  }
}

function startThread<T extends NativeThread<T['calls']>>(
  entry: string,
  data: T['data'],
): EngineThread<T> {
  return new EngineThread(threadEntry(entry, import.meta.url), 'pocketsphinx', data);
}

/**
 * Name and fingerprint of what was loaded: "en-us sha256:0123456789ab". Streamed, so the
 * loop stays free.
 */
async function modelRevision(modelDir: string): Promise<string> {
  const files = findModelFiles(modelDir);
  const hash = createHash('sha256');
  for (const path of [join(files.acousticModel, 'mdef'), files.dictionary, files.languageModel]) {
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  }
  return `${basename(modelDir)} sha256:${hash.digest('hex').slice(0, 12)}`;
}

import { EngineError, invalidValue } from '@switchyard/engine-api/coded-error.js';
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
  type RecognizedTranscript,
  pcmOf,
  requirePlain,
} from '@switchyard/engine-api/speech-recognizer.js';
import { EngineThread, threadEntry } from '@switchyard/engine-api/threads/engine-thread.js';
import { CancelFlags, shareSamples } from '@switchyard/engine-api/threads/shared-memory.js';
import { threadStream } from '@switchyard/engine-api/threads/thread-stream.js';
import { SherpaDiarizer } from './diarizer.js';
import { ModelFolder } from './model-files.js';
import { type readSherpaOptions } from './options.js';
import { type HeardUtterance, type NamedTurn, type RecognizerThread } from './protocol.js';
import { prepareTokens, publishedMoonshineIn } from './published-moonshine.js';
import { findRecognizerModel } from './recognizer-model.js';
import { bySpeaker } from './speaker-turns.js';
import { type HeardSegment, segmentOf, transcriptOf } from './transcript.js';

function requireSupported(
  item: TranscribeItem,
  { languages, hasTimes }: { readonly languages: readonly string[]; readonly hasTimes: boolean },
): void {
  // That of a draft is what was heard before.
  if (!item.draft) requireLanguage(item.language, languages);
  if (item.task === 'translate') throw cannot('task', 'does not translate');
  requirePlain(item, cannot);
  if (item.wordTimestamps && !hasTimes)
    throw cannot('timestamp_granularities', 'tells no times of words');
}

/**
 * A model hears what it was loaded for: a language can be confirmed, not
 * chosen per request.
 */
function requireLanguage(language: string, languages: readonly string[]): void {
  if (language === '') return;
  const base = language.toLowerCase().split(/[-_]/, 1)[0];
  if (languages.some(known => known.toLowerCase().split('-', 1)[0] === base)) return;
  const allowed =
    languages.length === 0
      ? 'this model finds out by itself, leave `language` out or set options.language'
      : `allowed: ${languages.join(', ')}`;
  throw invalidValue(`language is '${language}'; ${allowed}`, 'language');
}

function cannot(param: string, why: string): EngineError {
  return new EngineError('unsupported_parameter', `This sherpa-onnx model ${why}.`, {
    param,
  });
}

/**
 * Any recognition model of sherpa-onnx, on the CPU: one copy of it on one thread, shared
 * by files or by files and live streams.
 */
export class SherpaRecognizer implements SpeechRecognizer {
  readonly kind = 'stt';
  readonly input = 'pcm';
  /** Absent without streams, as the contract has it. */
  readonly openStream?: (options: RecognizerStreamOptions) => Promise<RecognizerStream>;
  readonly #cancels = new CancelFlags();
  readonly #streams = new Set<RecognizerStream>();
  #thread: EngineThread<RecognizerThread> | undefined;
  readonly #diarizer: SherpaDiarizer | undefined;
  #revision = '';
  #hasTimes = false;
  #opened = 0;
  #loaded: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(private readonly options: ReturnType<typeof readSherpaOptions>) {
    if (options.streams > 0) this.openStream = wanted => this.#openStream(wanted);
    if (options.diarization)
      this.#diarizer = new SherpaDiarizer(options.diarization, options.threads);
  }

  get info(): EngineInfo {
    const { maxBatch, streams, diarization } = this.options;
    return {
      engine: 'sherpa-onnx',
      device: 'cpu',
      revision: this.#revision,
      maxBatch,
      maxConcurrent: 1,
      streams,
      capabilities: [
        'transcribe',
        ...(this.#hasTimes ? (['word_timestamps'] as const) : []),
        ...(diarization ? (['diarize'] as const) : []),
        ...(streams > 0 ? (['stream'] as const) : []),
      ],
      languages: this.#limits.languages,
    };
  }

  load(): Promise<void> {
    return (this.#loaded ??= this.#load());
  }

  checkFiles(): string {
    this.#diarizer?.checkFiles();
    return `type ${this.#find().model.type}`;
  }

  transcribe(
    batch: readonly TranscribeItem[],
  ): Promise<readonly ItemOutcome<RecognizedTranscript>[]> {
    return Promise.all(batch.map(item => this.#outcome(item)));
  }

  /** How many streams the model decoded together. */
  streamCounters() {
    return this.#running.call('counters', undefined);
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  get #limits() {
    const { language, languages } = this.options;
    return {
      hasTimes: this.#hasTimes,
      /** Languages that a request may name; empty: none, the model detects it. */
      languages: language === '' ? languages : [language],
    };
  }

  get #running(): EngineThread<RecognizerThread> {
    if (this.#thread && !this.#closed) return this.#thread;
    throw new EngineError('engine_failed', 'The engine is closed.');
  }

  #find() {
    const { modelDir, precision, streams } = this.options;
    const folder = ModelFolder.open(modelDir, precision);
    return {
      folder,
      model: findRecognizerModel(folder, { ...this.options, streaming: streams > 0 }),
    };
  }

  async #load(): Promise<void> {
    const { streams } = this.options;
    const { folder, model } = this.#find();
    if (publishedMoonshineIn(folder)) await prepareTokens(folder);
    const config = {
      featConfig: { sampleRate: 16_000, featureDim: 80 },
      modelConfig: model.modelConfig,
      enableEndpoint: 0,
    };
    this.#thread = new EngineThread(
      threadEntry('./recognizer.thread.js', import.meta.url),
      'sherpa-onnx',
      { streaming: streams > 0, config, stretches: model.stretches },
    );
    await Promise.all([this.#thread.ready, this.#diarizer?.load()]);
    this.#hasTimes = model.hasTimes;
    this.#revision = `${model.type} ${await folder.revision()}`;
  }

  async #close(): Promise<void> {
    this.#cancels.raiseAll();
    await Promise.all([...this.#streams].map(stream => stream.close()));
    await Promise.all([this.#thread?.close(), this.#diarizer?.close()]);
  }

  async #openStream({ language, partials }: RecognizerStreamOptions): Promise<RecognizerStream> {
    requireLanguage(language, this.#limits.languages);
    const thread = this.#running;
    if (this.#streams.size >= this.options.streams) {
      throw new EngineError(
        'queue_full',
        `All ${this.options.streams} live streams of this worker are in use.`,
      );
    }
    const id = this.#opened++;
    const stream = threadStream({
      push: samples => thread.call('push', { id, samples }, { transfer: [samples.buffer] }),
      commit: () => thread.call('commit', { id }),
      close: async () => {
        // A thread that died has nothing to close.
        await thread.call('close', { id }).catch(() => undefined);
        this.#streams.delete(stream);
      },
    });
    this.#streams.add(stream);
    await thread.call('open', { id, partials });
    return stream;
  }

  async #outcome(item: TranscribeItem): Promise<ItemOutcome<RecognizedTranscript>> {
    try {
      requireSupported(item, this.#limits);
      const heard = await this.#decode(item);
      if (heard === undefined || item.signal.aborted) return failed(cancelledError(item.requestId));
      const { languages } = this.#limits;
      return succeeded(
        transcriptOf(
          heard,
          languages.length === 1 ? (languages[0] ?? '') : '',
          item.wordTimestamps,
        ),
      );
    } catch (error) {
      return failed(error);
    }
  }

  async #decode(item: TranscribeItem): Promise<readonly HeardSegment[] | undefined> {
    if (item.signal.aborted) return undefined;
    const pcm = pcmOf(item, 'sherpa-onnx');
    const heard: HeardSegment[] = [];
    if (pcm.length === 0) return heard;
    return this.#cancels.during(item.signal, async ({ memory }) => {
      const turns = item.diarize ? await this.#turns(item, pcm) : [];
      const onNotice = (utterance: HeardUtterance): void => {
        const segment = segmentOf(utterance, pcm.length / 16_000);
        for (const part of segment ? bySpeaker(segment, turns) : []) {
          heard.push(part);
          item.onSegment?.(part.segment, item.wordTimestamps ? part.words : []);
        }
      };
      const samples = await shareSamples(pcm);
      const request = { samples, cancel: memory };
      return (await this.#running.call('decode', request, { onNotice })) && heard;
    });
  }

  #turns({ knownSpeakers = [] }: TranscribeItem, pcm: Int16Array): Promise<readonly NamedTurn[]> {
    if (this.#diarizer) return this.#diarizer.turnsOf(pcm, knownSpeakers);
    const message =
      'This model does not tell speakers apart; options.segmentationModel and embeddingModel are not set.';
    throw new EngineError('unsupported_parameter', message, {
      param: 'response_format',
    });
  }
}

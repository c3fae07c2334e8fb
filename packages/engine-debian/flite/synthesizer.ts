import { splitIntoSentences } from '@switchyard/engine-api/audio/sentence-splitter.js';
import { type EngineInfo } from '@switchyard/engine-api/engine.js';
import {
  checkSpeechItem,
  nothingToSpeak,
  type SpeechSynthesizer,
  type SynthesizeItem,
} from '@switchyard/engine-api/speech-synthesizer.js';
import { EngineThread, threadEntry } from '@switchyard/engine-api/threads/engine-thread.js';
import { CancelFlags } from '@switchyard/engine-api/threads/shared-memory.js';
import { speechOutcome } from '@switchyard/engine-api/threads/speech-calls.js';
import { ThreadPool } from '../threads/thread-pool.js';
import { FLITE_SAMPLE_RATE, FLITE_VOICES, type FliteThread } from './protocol.js';

/** Signs of printed text, as flite knows them. */
const PLAIN: Readonly<Record<string, string>> = {
  '\u2018': "'",
  '\u2019': "'",
  '\u201c': '"',
  '\u201d': '"',
  '\u2013': ', ',
  '\u2014': ', ',
  '\u2026': '...',
  '\u00df': 'ss',
  '\u00e6': 'ae',
  '\u00c6': 'Ae',
  '\u00f8': 'o',
  '\u00d8': 'O',
  '\u00b0': ' degrees ',
  '\u00a3': ' pounds ',
  '\u20ac': ' euros ',
};

/**
 * flite reads letters, digits and these signs aloud; from anything else it makes 0.2
 * s of silence.
 */
const SPOKEN = /[A-Za-z0-9%&$@+=#~^*]/;

/**
 * What flite can be given: printable ASCII. Typographic signs become plain ones, accents
 * fall off their letters, NUL and other control characters become spaces (a NUL would end
 * the text, for C), line ends stay. Characters of other scripts are left out;
 * `isSpeakable` tells whether anything remains to be said.
 */
export function toSpeakableText(text: string): string {
  return [...text]
    .map(character => PLAIN[character] ?? character)
    .join('')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e\n]+/g, ' ')
    .replace(/[^\S\n]+/g, ' ')
    .trim();
}

export function isSpeakable(text: string): boolean {
  return SPOKEN.test(text);
}

/** Two threads that set the speed of the same voice would speak at each other's pace. */
let loadedInProcess = false;

/**
 * English speech on the CPU, sentence by sentence. flite's voices are static data of the
 * process, so there is one thread, and a process loads one of these.
 */
export class FliteSynthesizer implements SpeechSynthesizer {
  readonly kind = 'tts';
  readonly sampleRate = FLITE_SAMPLE_RATE;
  readonly voices = FLITE_VOICES;
  readonly #thread = new ThreadPool<FliteThread>(
    1,
    () => new EngineThread(threadEntry('./synthesizer.thread.js', import.meta.url), 'flite'),
  );
  readonly #cancels = new CancelFlags();
  #holdsVoices = false;
  #revision = '';
  #loaded: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  get info(): EngineInfo {
    return {
      engine: 'flite',
      device: 'cpu',
      revision: this.#revision,
      maxBatch: 1,
      maxConcurrent: 1,
      streams: 0,
      capabilities: ['speech', 'speed'],
      languages: ['en'],
    };
  }

  load(): Promise<void> {
    return (this.#loaded ??= this.#load());
  }

  sentencesOf(text: string): readonly string[] {
    return speakableSentences(text);
  }

  synthesize(batch: readonly SynthesizeItem[]) {
    return Promise.all(batch.map(item => this.#outcome(item)));
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #load(): Promise<void> {
    if (loadedInProcess)
      throw new Error(
        'A process holds one flite engine at a time: its voices are static data of the library.',
      );
    loadedInProcess = true;
    this.#holdsVoices = true;
    await this.#thread.use(async thread => {
      this.#revision = await thread.ready;
    });
  }

  async #close(): Promise<void> {
    this.#cancels.raiseAll();
    await this.#thread.close();
    if (this.#holdsVoices) loadedInProcess = false;
  }

  #outcome(item: SynthesizeItem) {
    return speechOutcome(item, FLITE_SAMPLE_RATE, this.#cancels, async (cancel, onNotice) => {
      const request = { ...readRequest(item), speed: item.speed, cancel };
      return this.#thread.use(thread => thread.call('speak', request, { onNotice }));
    });
  }
}

const speakableSentences = (text: string): readonly string[] =>
  splitIntoSentences(toSpeakableText(text)).filter(isSpeakable);

function readRequest(item: SynthesizeItem) {
  const voice = checkSpeechItem(
    item,
    FLITE_VOICES.map(({ id }) => id),
  );
  const sentences = speakableSentences(item.text);
  if (sentences.length === 0) throw nothingToSpeak('an English voice');
  return { sentences, voice };
}

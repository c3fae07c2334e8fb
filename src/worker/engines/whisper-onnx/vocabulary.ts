import * as tokenizers from '@huggingface/tokenizers';
import { type WhisperFolder } from './model-files.js';

/** The part that is used; the package's own types do not resolve under Node's module rules. */
interface Tokenizer {
  encode(text: string, options: { readonly add_special_tokens: boolean }): { readonly ids: number[] };
  token_to_id(token: string): number | undefined;
  id_to_token(token: number): string | undefined;
}
const { Tokenizer } = tokenizers as unknown as {
  readonly Tokenizer: new (tokenizer: unknown, config: unknown) => Tokenizer;
};

/** GPT-2's printable letter for every byte, reversed: the pieces of the vocabulary are written in these letters. */
function byteOfLetter(): Map<string, number> {
  const plain = (byte: number): boolean => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  const letters = new Map<string, number>();
  let extra = 256;
  for (let byte = 0; byte < 256; byte++) letters.set(String.fromCodePoint(plain(byte) ? byte : extra++), byte);
  return letters;
}

const BYTES = byteOfLetter();
/** "?" */
const UNKNOWN_BYTE = 63;

/** Text and special tokens of one model. Token numbers differ between model generations, so every one is looked up. */
export class WhisperVocabulary {
  readonly endToken: number;
  readonly startToken: number;
  readonly noTimestamps: number;
  /** `<|0.00|>`; every higher number is a time. */
  readonly firstTime: number;
  readonly startOfPrevious: number | undefined;
  readonly noSpeech: number | undefined;
  /** Language code → token. Empty: the model knows English only. */
  readonly languages: ReadonlyMap<string, number>;
  /** Never sampled. */
  readonly suppressed: readonly number[];
  /** Not sampled first: the end, and a lone blank. */
  readonly suppressedFirst: readonly number[];
  /** Latest first time, in time tokens; undefined: any. */
  readonly latestFirstTime: number | undefined;
  /** [layer, head] pairs whose cross attention follows the audio. */
  readonly alignmentHeads: readonly (readonly [number, number])[];
  readonly #tokenizer: Tokenizer;
  readonly #tasks: Readonly<Record<'transcribe' | 'translate', number | undefined>>;

  constructor({ config, generation, tokenizer, tokenizerConfig }: WhisperFolder) {
    this.#tokenizer = new Tokenizer(tokenizer, tokenizerConfig);
    this.endToken = config.endToken;
    this.startToken = config.startToken;
    this.noTimestamps = numberOf(generation.no_timestamps_token_id) ?? this.#required('<|notimestamps|>');
    this.firstTime = this.noTimestamps + 1;
    this.startOfPrevious = this.#special('<|startofprev|>');
    this.noSpeech = this.#special('<|nospeech|>') ?? this.#special('<|nocaptions|>');
    this.languages = this.#languages(generation);
    this.#tasks = { transcribe: this.#special('<|transcribe|>'), translate: this.#special('<|translate|>') };
    this.suppressed = this.#suppressed(numbersOf(generation.suppress_tokens));
    this.suppressedFirst = numbersOf(generation.begin_suppress_tokens) ?? [this.endToken, ...this.encode(' ')];
    this.latestFirstTime = numberOf(generation.max_initial_timestamp_index);
    this.alignmentHeads = (generation.alignment_heads ?? []) as [number, number][];
  }

  get multilingual(): boolean {
    return this.languages.size > 0;
  }

  /** `<|startoftranscript|><|en|><|transcribe|>`; of an English model the first only. */
  startSequence(language: string, task: 'transcribe' | 'translate'): number[] {
    const languageToken = this.languages.get(language);
    const taskToken = this.#tasks[task];
    if (languageToken === undefined || taskToken === undefined) return [this.startToken];
    return [this.startToken, languageToken, taskToken];
  }

  isText(token: number): boolean {
    return token < this.endToken;
  }

  isTime(token: number): boolean {
    return token >= this.firstTime;
  }

  encode(text: string): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  /** Text tokens only; half characters become U+FFFD. */
  decode(tokens: readonly number[]): string {
    return Buffer.concat(tokens.filter(token => this.isText(token)).map(token => this.bytesOf(token))).toString('utf8');
  }

  bytesOf(token: number): Uint8Array {
    const letters = this.#tokenizer.id_to_token(token) ?? '';
    return Uint8Array.from([...letters].map(letter => BYTES.get(letter) ?? UNKNOWN_BYTE));
  }

  #special(name: string): number | undefined {
    return this.#tokenizer.token_to_id(name);
  }

  #required(name: string): number {
    const token = this.#special(name);
    if (token === undefined)
      throw new Error(`tokenizer.json has no ${name}: it is not the tokenizer of a Whisper model.`);
    return token;
  }

  #languages(generation: Readonly<Record<string, unknown>>): Map<string, number> {
    if (generation.is_multilingual === false) return new Map();
    const known = generation.lang_to_id as Readonly<Record<string, number>> | undefined;
    const entries = known ? Object.entries(known) : this.#languageTokens();
    return new Map(entries.map(([name, token]) => [name.replace(/[<|>]/g, ''), token]));
  }

  /** Older folders do not list them: they stand between the start of the transcript and the tasks. */
  #languageTokens(): [string, number][] {
    const all: [string, number][] = [];
    const last = this.#special('<|translate|>') ?? this.startToken;
    for (let token = this.startToken + 1; token < last; token++) {
      const name = this.#tokenizer.id_to_token(token) ?? '';
      if (/^<\|[a-z]{2,3}\|>$/.test(name)) all.push([name, token]);
    }
    return all;
  }

  /** The configuration's list, and what the reference never samples whatever the list says. */
  #suppressed(listed: readonly number[] = []): number[] {
    const names = [
      '<|startoflm|>',
      '<|startofprev|>',
      '<|nospeech|>',
      '<|nocaptions|>',
      '<|transcribe|>',
      '<|translate|>',
    ];
    const always = [this.startToken, this.noTimestamps, ...names.map(name => this.#special(name))];
    const all = new Set([...listed, ...always, ...this.languages.values()]);
    return [...all].filter((token): token is number => token !== undefined && token >= 0);
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function numbersOf(value: unknown): number[] | undefined {
  return Array.isArray(value) ? value.filter(item => typeof item === 'number') : undefined;
}

import { Logger } from '@nestjs/common';
import { type Transcript } from '@switchyard/engine-api/speech-recognizer.js';
import { DomainError } from '../../core/errors/domain-error.js';

/** Inverse text normalisation of one language: "twenty five percent" → "25%". */
interface InverseTextNormalizer {
  /** Primary BCP-47 subtag, lower-case, such as `en`. */
  readonly language: string;
  /**
   * Spoken form → written form, in time linear in the length of the text. Text that is
   * written already comes back unchanged. Adapters may throw: `WrittenForm` answers with
   * the spoken form then.
   */
  normalize(text: string): string;
}

/**
 * Rewrites text and segments as one: the text stays the sum of its segments, so json,
 * subtitles and event streams say the same. Words keep the spoken form, because their
 * times belong to what was spoken.
 */
function writtenTranscript<T extends Transcript>(
  transcript: T,
  write: (spoken: string) => string,
): T {
  const segments = transcript.segments.map(segment => ({
    ...segment,
    text: write(segment.text),
  }));
  const gaps = gapsBetween(transcript);
  const text = gaps?.map((gap, index) => gap + (segments[index]?.text.trim() ?? '')).join('');
  return { ...transcript, segments, text: text ?? write(transcript.text) };
}

/**
 * White space before each segment and after the last; undefined when the text holds more
 * than its segments.
 */
function gapsBetween({ text, segments }: Transcript): readonly string[] | undefined {
  const gaps: string[] = [];
  let from = 0;
  for (const { text: segment } of segments) {
    const wanted = segment.trim();
    const at = text.indexOf(wanted, from);
    if (at < 0) return undefined;
    gaps.push(text.slice(from, at));
    from = at + wanted.length;
  }
  gaps.push(text.slice(from));
  return gaps.every(gap => gap.trim() === '') ? gaps : undefined;
}

/** What a request wants to happen to the recogniser's text. */
export interface WrittenFormParams {
  /** Whether numbers are written: as the client asks, else by the model's `itn`. */
  readonly wanted: boolean;
  /** Whether the client asked for it itself: then it is done, or the request is refused. */
  readonly demanded: boolean;
  /** BCP-47: the languages the text can be in. Empty: any, as the engine detects it. */
  readonly languages: readonly string[];
}

/** Spoken form → written form, where it is wanted and known. */
export class WrittenForm {
  readonly #logger = new Logger(WrittenForm.name);
  readonly #reported = new Set<string>();
  readonly #normalizers: ReadonlyMap<string, InverseTextNormalizer>;

  /** @param normalizers one per language */
  constructor(normalizers: readonly InverseTextNormalizer[]) {
    this.#normalizers = new Map(normalizers.map(one => [one.language, one]));
  }

  /**
   * @throws DomainError `unsupported_parameter` when no language that the text can be in
   *   has a normaliser.
   */
  demand({ demanded, languages }: WrittenFormParams): void {
    if (!demanded || languages.length === 0 || languages.some(tag => this.#find(tag))) return;
    const known = `\`itn\` knows these languages: ${[...this.#normalizers.keys()].join(', ')}`;
    const message = `${known}; the text will be in ${languages.join(' or ')}.`;
    throw new DomainError('unsupported_parameter', message, { param: 'itn' });
  }

  /**
   * How each segment will be written, where that is known before the engine has detected
   * the language: for answers that are sent piece by piece. Undefined: wait for the
   * whole. What it gives never throws.
   */
  ahead({ wanted, languages }: WrittenFormParams): ((spoken: string) => string) | undefined {
    if (!wanted) return spoken => spoken;
    const known = this.#known(languages);
    if (!known) return undefined;
    const { normalizer } = known;
    return spoken => (normalizer ? this.#written(normalizer, spoken) : spoken);
  }

  #written(normalizer: InverseTextNormalizer, spoken: string): string {
    try {
      return normalizer.normalize(spoken);
    } catch (error) {
      this.#report(normalizer.language, error);
      return spoken;
    }
  }

  /** Fail-open: a normaliser that throws costs the written form, never the transcript. */
  apply<T extends Transcript>(transcript: T, { wanted, languages }: WrittenFormParams): T {
    if (!wanted) return transcript;
    const { normalizer } = this.#known(languages) ?? {
      normalizer: this.#find(transcript.language),
    };
    if (!normalizer) return transcript;
    try {
      return writtenTranscript(transcript, spoken => normalizer.normalize(spoken));
    } catch (error) {
      this.#report(normalizer.language, error);
      return transcript;
    }
  }

  /** Undefined: only the engine can tell which of the languages it is, and that matters. */
  #known(languages: readonly string[]) {
    const [normalizer, ...others] = new Set(languages.map(tag => this.#find(tag)));
    return languages.length > 0 && others.length === 0 ? { normalizer } : undefined;
  }

  /** Regions do not matter: `en-GB` finds `en`. */
  #find(tag: string): InverseTextNormalizer | undefined {
    return this.#normalizers.get((tag.split('-', 1)[0] ?? '').toLowerCase());
  }

  /**
   * Once per language: a defect in a rule would otherwise fill the log with
   * the same line.
   */
  #report(language: string, error: unknown): void {
    if (this.#reported.has(language)) return;
    this.#reported.add(language);
    this.#logger.error(
      { err: error, language },
      'inverse text normalisation failed; transcripts keep the spoken form',
    );
  }
}

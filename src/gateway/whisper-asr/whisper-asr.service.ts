import { inWordsOf, type ParamNames, renamed } from '../text/param-names.js';
import { Injectable } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import {
  AsrQueryDto,
  DetectedLanguageDto,
  DetectLanguageQueryDto,
} from '../../contracts/whisper-asr/asr.dto.js';
import { type FormSource } from '../http/multipart-form.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import { unsupportedField } from '../../contracts/schema/field-problems.js';
import { languageName } from '../../contracts/formats/language-name.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { Settings } from '../../platform/config/settings.js';
import { ModelCatalog } from '../models/model-catalog.js';
import {
  type ParsedTranscription,
  parseTranscription,
  parseTranslation,
} from '../audio/parse-transcription.js';
import { TranscriptionService } from '../audio/transcription.service.js';
import { type FileRules } from '../audio/upload-reader.js';
import { type Strictness } from '../models/model-abilities.js';
import { streamedWavHeader } from '../../contracts/formats/speech.js';
import {
  formatVerboseJson,
  formatSrt,
  formatVtt,
} from '../../contracts/formats/transcript-body.js';
import {
  type Transcript,
  type TranscriptionParams,
} from '@switchyard/engine-api/speech-recognizer.js';

/**
 * The answer of whisper-asr-webservice, whose media type is text/plain whatever
 * the output is.
 */
function asrBody(
  transcript: Transcript,
  {
    output,
    task,
    words,
  }: {
    readonly output: AsrQueryDto['output'];
    readonly task: TranscriptionParams['task'];
    readonly words: boolean;
  },
): string {
  switch (output) {
    case 'txt':
      return `${transcript.segments.map(({ text }) => text.trim()).join('\n')}\n`;
    case 'srt':
      return formatSrt(transcript);
    case 'vtt':
      return formatVtt(transcript);
    case 'tsv':
      return tsv(transcript);
    case 'json': {
      const granularities = words
        ? (['segment', 'word'] as const)
        : (['segment'] as const);
      const {
        text,
        segments,
        words: told,
      } = formatVerboseJson(transcript, { task, granularities });
      return JSON.stringify({
        text,
        segments,
        ...(told && { words: told }),
        language: transcript.language,
      });
    }
  }
}

/** Milliseconds, and a text without the separator. */
function tsv({ segments }: Transcript): string {
  const rows = segments.map(({ start, end, text }) =>
    [
      Math.round(start * 1000),
      Math.round(end * 1000),
      text.trim().replaceAll(/[\t\r\n]/g, ' '),
    ].join('\t'),
  );
  return `${['start\tend\ttext', ...rows].join('\n')}\n`;
}

const RATE = 16_000;

const RIFF = 'RIFF';

/**
 * Headerless 16 kHz mono s16le as a WAV file. What begins as a WAV file does stays
 * as it is.
 * @param mostSeconds the rest is read and dropped
 */
export async function* rawPcmAsWav(
  source: AsyncIterable<Buffer>,
  mostSeconds = Infinity,
): AsyncGenerator<Buffer> {
  let left = mostSeconds * RATE * 2;
  let head: Buffer = Buffer.alloc(0);
  let begun = false;
  for await (const chunk of source) {
    const bytes = begun ? chunk : Buffer.concat([head, chunk]);
    if (!begun && bytes.length < RIFF.length) {
      head = bytes;
      continue;
    }
    if (!begun) yield* beginning(bytes);
    begun = true;
    if (left > 0) yield bytes.subarray(0, left);
    left -= bytes.length;
  }
  if (!begun && head.length > 0) yield Buffer.concat([streamedWavHeader(RATE), head]);
}

function* beginning(bytes: Buffer): Generator<Buffer> {
  if (bytes.toString('latin1', 0, RIFF.length) !== RIFF) yield streamedWavHeader(RATE);
}

/** Names of OpenAI's fields as this route spells them. */
const OWN_NAMES: ParamNames = [
  [/^prompt$/, 'initial_prompt'],
  [/^timestamp_granularities$/, 'word_timestamps'],
];

/**
 * @param dto of `POST /asr`, with a `model` @throws DomainError for the first thing
 *   wrong with it
 */
export function parseAsr(
  dto: AsrQueryDto,
  catalog: ModelCatalog,
  compat: Strictness = { strict: false },
): ParsedTranscription {
  const useless = uselessIn(dto);
  const words = dto.word_timestamps && dto.output === 'json';
  const parsed = openAiForm(dto, words, { catalog, compat });
  if (compat.strict && useless[0] !== undefined) throw withoutEffect(useless[0]);
  const ignored = [...parsed.ignored.map(param => renamed(OWN_NAMES, param)), ...useless];
  const options = { output: dto.output, task: dto.task, words };
  const contentType = 'text/plain; charset=utf-8';
  return {
    ...parsed,
    ignored,
    write: transcript => ({ contentType, body: asrBody(transcript, options) }),
  };
}

/** Fields that only advise and have no effect. */
const uselessIn = ({
  vad_filter: filter,
  word_timestamps: words,
  output,
}: AsrQueryDto): readonly string[] => [
  ...(filter ? ['vad_filter'] : []),
  ...(words && output !== 'json' ? ['word_timestamps'] : []),
];

/** Errors name the field as it was sent. */
function openAiForm(
  { model, task, language, initial_prompt: prompt }: AsrQueryDto,
  words: boolean,
  { catalog, compat }: { catalog: ModelCatalog; compat: Strictness },
): ParsedTranscription {
  const fields = { model, prompt, response_format: 'verbose_json' };
  const granularities = words ? ['segment', 'word'] : ['segment'];
  const further = { language, timestamp_granularities: granularities };
  try {
    return task === 'translate'
      ? parseTranslation(fields, catalog, compat)
      : parseTranscription({ ...fields, ...further }, catalog, compat);
  } catch (error) {
    throw inWordsOf(OWN_NAMES, error);
  }
}

function withoutEffect(param: string): DomainError {
  const { treatment, why } = rulesOf(AsrQueryDto)[param]!;
  return treatment === 'ignored'
    ? unsupportedField(param, why)
    : new DomainError('unsupported_parameter', `\`${param}\` needs output=json.`, {
        param,
      });
}

/** What Whisper looks at to tell a language. */
const DETECTION_SECONDS = 30;

/** The routes of whisper-asr-webservice, which subtitle programs such as Bazarr call. */
@Injectable()
export class WhisperAsrService {
  constructor(
    private readonly transcripts: TranscriptionService,
    private readonly catalog: ModelCatalog,
    private readonly settings: Settings,
  ) {}

  /** `POST /asr`. @throws DomainError for everything that is not an answer */
  transcribe(query: AsrQueryDto, form: FormSource, reply: FastifyReply): Promise<void> {
    query.model ??= this.settings.compat.asrModel;
    const parsed = parseAsr(query, this.catalog, this.settings.compat);
    return this.transcripts.answer(form, reply, () => parsed, audioOf(query));
  }

  /** `POST /detect-language`. @throws DomainError for everything that is not an answer */
  detectLanguage(
    query: DetectLanguageQueryDto,
    form: FormSource,
    reply: FastifyReply,
  ): Promise<void> {
    const model = query.model ?? this.settings.compat.asrModel;
    const parsed = parseTranscription({ model }, this.catalog, this.settings.compat);
    const [only, ...others] = parsed.model.languages;
    const write: ParsedTranscription['write'] = ({ language }) => {
      const heard = language === '' && others.length === 0 ? only : language;
      return {
        contentType: 'application/json; charset=utf-8',
        body: JSON.stringify(detected(heard ?? '')),
      };
    };
    const audio = audioOf(query, DETECTION_SECONDS);
    return this.transcripts.answer(form, reply, () => ({ ...parsed, write }), audio);
  }
}

const audioOf = (
  { encode }: DetectLanguageQueryDto,
  mostSeconds?: number,
): FileRules => ({
  part: 'audio_file',
  receive: encode ? undefined : source => rawPcmAsWav(source, mostSeconds),
});

function detected(tag: string): DetectedLanguageDto {
  if (tag === '')
    throw new DomainError(
      'engine_failed',
      'The model does not tell which language it recognised.',
    );
  const [code = tag] = tag.split('-', 1);
  return {
    detected_language: languageName(tag),
    language_code: code.toLowerCase(),
    confidence: null,
  };
}

import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { unsupportedField } from '@switchyard/engine-api/field-problems.js';
import {
  type Transcript,
  type TranscriptionParams,
} from '@switchyard/engine-api/speech-recognizer.js';
import { formatSrt, formatVtt } from '../../contracts/formats/subtitles.js';
import { formatVerboseJson } from '../../contracts/formats/transcript-body.js';
import { rulesOf } from '../../contracts/openai/field.decorators.js';
import { AsrQueryDto } from '../../contracts/whisper-asr/asr.dto.js';
import { DomainError } from '../../core/errors/domain-error.js';
import {
  type ParsedTranscription,
  parseTranscription,
  parseTranslation,
} from '../audio/parse-transcription.js';
import { type Strictness } from '../models/model-abilities.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import { inWordsOf, type ParamNames, renamed } from '../text/param-names.js';

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
      const granularities = words ? (['segment', 'word'] as const) : (['segment'] as const);
      const {
        text,
        segments,
        words: told,
      } = formatVerboseJson(transcript, { task, granularities });
      return writeJson({
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

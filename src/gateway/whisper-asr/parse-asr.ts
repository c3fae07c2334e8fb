import { asrBody } from '../../contracts/whisper-asr/asr-body.js';
import { type AsrQueryDto, FILTERED } from '../../contracts/whisper-asr/asr.dto.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type Strictness } from '../models/model-abilities.js';
import { type ModelCatalog } from '../models/model-catalog.js';
import {
  type ParsedTranscription,
  parseTranscription,
  parseTranslation,
} from '../audio/parse-transcription.js';

/** Names of OpenAI's fields as this route spells them. */
const OWN_NAMES: Readonly<Record<string, string>> = {
  prompt: 'initial_prompt',
  timestamp_granularities: 'word_timestamps',
};

const ownName = (param: string): string => OWN_NAMES[param] ?? param;

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
  const parsed = renamed(() => openAiForm(dto, words, { catalog, compat }));
  if (compat.strict && useless[0] !== undefined) throw withoutEffect(useless[0]);
  const ignored = [...parsed.ignored.map(ownName), ...useless];
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

function openAiForm(
  { model, task, language, initial_prompt: prompt }: AsrQueryDto,
  words: boolean,
  { catalog, compat }: { catalog: ModelCatalog; compat: Strictness },
): ParsedTranscription {
  const fields = { model, prompt, response_format: 'verbose_json' };
  if (task === 'translate') return parseTranslation(fields, catalog, compat);
  const granularities = words ? ['segment', 'word'] : ['segment'];
  return parseTranscription(
    { ...fields, language, timestamp_granularities: granularities },
    catalog,
    compat,
  );
}

/** Errors name the field as it was sent. */
function renamed<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (
      !(error instanceof DomainError) ||
      error.param === undefined ||
      !(error.param in OWN_NAMES)
    )
      throw error;
    const param = ownName(error.param);
    const message = error.message.replace(`\`${error.param}\``, `\`${param}\``);
    throw new DomainError(error.code, message, { param, cause: error });
  }
}

function withoutEffect(param: string): DomainError {
  const message =
    param === 'vad_filter'
      ? `\`${param}\` cannot be honoured: ${FILTERED}.`
      : `\`${param}\` needs output=json.`;
  return new DomainError('unsupported_parameter', message, { param });
}

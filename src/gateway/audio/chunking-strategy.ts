import { type Chunking } from '@switchyard/engine-api/transcript.js';
import { ServerVadDto } from '../../contracts/openai/transcription.dto.js';
import { EVENT_BOUNDS, parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { parseDto } from '../http/dto-validation.js';

const PARAM = 'chunking_strategy';
const SHOWN_CHARACTERS = 80;

/**
 * The form field `chunking_strategy`: `auto`, an object as JSON, or an object
 * as bracketed fields.
 * @returns undefined for `auto` and absent: the worker cuts as it thinks best.
 * @throws DomainError `invalid_value` or `missing_required_parameter`, naming the field
 *   within the object.
 */
export function chunkingStrategy(value: unknown): Chunking | undefined {
  const given = typeof value === 'string' ? parsed(value) : value;
  if (given === undefined || given === null || given === 'auto') return undefined;
  if (typeof given !== 'object' || Array.isArray(given)) throw neither(value);
  const { threshold, prefix_padding_ms, silence_duration_ms } = serverVad(
    given as Record<string, unknown>,
  );
  return {
    threshold,
    prefixPaddingMs: prefix_padding_ms,
    silenceDurationMs: silence_duration_ms,
  };
}

function parsed(text: string): unknown {
  try {
    return parseBoundedJson(text, EVENT_BOUNDS);
  } catch {
    return text;
  }
}

function serverVad(fields: Record<string, unknown>): ServerVadDto {
  try {
    return parseDto(ServerVadDto, fields);
  } catch (error) {
    if (!(error instanceof DomainError) || error.param === undefined) throw error;
    const message = error.message.replace(
      `\`${error.param}\``,
      `\`${PARAM}.${error.param}\``,
    );
    throw new DomainError(error.code, message, { param: PARAM, cause: error });
  }
}

function neither(value: unknown): DomainError {
  const allowed = 'auto or an object such as {"type":"server_vad","threshold":0.5}';
  return new DomainError(
    'invalid_value',
    `\`${PARAM}\` must be ${allowed}; got ${JSON.stringify(value).slice(0, SHOWN_CHARACTERS)}.`,
    {
      param: PARAM,
    },
  );
}

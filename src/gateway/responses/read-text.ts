import { nameIn, objectIn } from '../../contracts/tools/read-tools.js';
import {
  type ResponseParams,
  type TextFormat,
} from '../../contracts/openai/responses.js';
import { type FieldReader } from '../../contracts/realtime/field-reader.js';

export function readText(body: FieldReader): ResponseParams['text'] {
  const text = body.object('text');
  const verbosity = text?.oneOf('verbosity', ['low', 'medium', 'high']);
  const format = text?.object('format');
  return {
    format: format ? formatOf(format) : { type: 'text' },
    ...(verbosity && { verbosity }),
  };
}

function formatOf(format: FieldReader): TextFormat {
  const type = format.oneOf('type', ['text', 'json_object', 'json_schema']);
  if (type === undefined) throw format.missing('type');
  if (type !== 'json_schema') return { type };
  const schema = objectIn(format, 'schema');
  if (!schema) throw format.missing('schema');
  const description = format.string('description', Infinity) ?? null;
  return {
    type,
    name: nameIn(format),
    description,
    schema,
    strict: format.boolean('strict') ?? false,
  };
}

export function readReasoning(body: FieldReader): ResponseParams['reasoning'] {
  const reasoning = body.object('reasoning');
  if (!reasoning) return null;
  const summary =
    reasoning.string('summary', 64) ?? reasoning.string('generate_summary', 64);
  return { effort: reasoning.string('effort', 64) ?? null, summary: summary ?? null };
}

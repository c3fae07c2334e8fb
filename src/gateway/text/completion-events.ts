import { type Fields } from '@switchyard/engine-api/is-object.js';
import { jsonWithFields, withJsonFields } from '../../contracts/formats/json-fields.js';
import { onOneLine, SSE_DONE, sseData } from '../../contracts/formats/server-sent-event.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { type AnswerForm } from './text-generation.service.js';

const DATA = Buffer.from('data: ');
const END = Buffer.from('\n\n');

/**
 * Generated text as OpenAI's events: chunks, then `[DONE]`, or the error envelope if it
 * fails after the first chunk.
 * @param fields set in every chunk; the rest of a chunk is sent unchanged
 */
export const completionEvents = (fields: Fields): AnswerForm => ({
  format: json => Buffer.concat([DATA, ...jsonWithFields(onOneLine(json), fields), END]),
  lastFrame: failure => (failure ? sseData(errorEnvelope(failure)) : SSE_DONE),
  whole: answer => withJsonFields(answer, fields),
});

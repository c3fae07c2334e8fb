import { type TokenForm } from '../../contracts/formats/generation-body.js';
import { FieldReader } from '../../contracts/realtime/field-reader.js';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import {
  type Prompt,
  type TextBackend,
} from '@switchyard/engine-api/text-backend.port.js';
import { type GenerateItem, type GenerationEvent } from '../engines/text-generator.js';
import { chatMessages } from './chat-messages.js';

const AS_A_PROMPT = 'a text is cut as a prompt is';

/**
 * The answer of `/tokenize` or `/detokenize`, for which nothing is
 * generated. @throws DomainError
 */
export async function* tokenAnswer(
  { form, body }: Pick<GenerateItem, 'body'> & { readonly form: TokenForm },
  backend: TextBackend,
): AsyncGenerator<GenerationEvent> {
  const fields = new FieldReader(parseBoundedJson(body.toString('utf8')), '');
  const answer = await (form === 'tokenize'
    ? tokenized(fields, backend)
    : detokenized(fields, backend));
  yield { type: 'chunk', json: JSON.stringify(answer) };
  yield { type: 'done', finishReasons: [] };
}

async function tokenized(fields: FieldReader, backend: TextBackend): Promise<object> {
  for (const name of ['add_special_tokens', 'add_special'])
    if (fields.boolean(name) === false) throw fields.refusal(name, AS_A_PROMPT);
  const tokens = await backend.encode(promptOf(fields));
  return { tokens, count: tokens.length, max_model_len: backend.info.contextTokens };
}

/** vLLM names the text `prompt`, llama.cpp `content`. */
function promptOf(fields: FieldReader): Prompt {
  if (fields.has('messages')) return { type: 'chat', messages: chatMessages(fields) };
  const text = fields.string('prompt', Infinity) ?? fields.string('content', Infinity);
  if (text === undefined) throw fields.missing('prompt');
  return { type: 'text', text };
}

/** Under both names, for the clients of both servers. */
async function detokenized(fields: FieldReader, backend: TextBackend): Promise<object> {
  const tokens = await backend.encode({
    type: 'tokens',
    tokens: fields.raw('tokens') as readonly number[],
  });
  const text = Buffer.concat(tokens.map(token => backend.bytesOf(token))).toString(
    'utf8',
  );
  return { prompt: text, content: text };
}

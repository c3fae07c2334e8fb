import { z } from 'zod';
import { type TokenForm } from '../../contracts/formats/generation-body.js';
import {
  missingField,
  readObject,
  unsupportedField,
} from '../../contracts/schema/read-object.js';
import { ANY_TEXT, FLAG, OBJECT, optional } from '../../contracts/schema/rules.js';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import {
  type Prompt,
  type TextBackend,
} from '@switchyard/engine-api/text-backend.port.js';
import { type GenerateItem, type GenerationEvent } from '../engines/text-generator.js';
import { chatMessages, MESSAGES } from './chat-messages.js';

const AS_A_PROMPT = 'a text is cut as a prompt is';

const TOKENIZE = z.object(
  {
    add_special_tokens: optional(FLAG),
    add_special: optional(FLAG),
    messages: MESSAGES,
    // vLLM names the text `prompt`, llama.cpp `content`.
    prompt: optional(ANY_TEXT),
    content: optional(ANY_TEXT),
  },
  'must be an object',
);

/**
 * The answer of `/tokenize` or `/detokenize`, for which nothing is
 * generated. @throws DomainError
 */
export async function* tokenAnswer(
  { form, body }: Pick<GenerateItem, 'body'> & { readonly form: TokenForm },
  backend: TextBackend,
): AsyncGenerator<GenerationEvent> {
  const fields = parseBoundedJson(body.toString('utf8'));
  const answer = await (form === 'tokenize'
    ? tokenized(fields, backend)
    : detokenized(fields, backend));
  yield { type: 'chunk', json: JSON.stringify(answer) };
  yield { type: 'done', finishReasons: [] };
}

async function tokenized(sent: unknown, backend: TextBackend): Promise<object> {
  const body = readObject(TOKENIZE, sent);
  for (const name of ['add_special_tokens', 'add_special'] as const)
    if (body[name] === false) throw unsupportedField(name, AS_A_PROMPT);
  const tokens = await backend.encode(promptOf(body));
  return { tokens, count: tokens.length, max_model_len: backend.info.contextTokens };
}

function promptOf({ messages, prompt, content }: z.output<typeof TOKENIZE>): Prompt {
  if (messages.length > 0) return { type: 'chat', messages: chatMessages(messages) };
  const text = prompt ?? content;
  if (text === undefined) throw missingField('prompt');
  return { type: 'text', text };
}

/** Under both names, for the clients of both servers. */
async function detokenized(sent: unknown, backend: TextBackend): Promise<object> {
  const { tokens: given } = readObject(OBJECT, sent);
  const tokens = await backend.encode({
    type: 'tokens',
    tokens: given as readonly number[],
  });
  const text = Buffer.concat(tokens.map(token => backend.bytesOf(token))).toString(
    'utf8',
  );
  return { prompt: text, content: text };
}

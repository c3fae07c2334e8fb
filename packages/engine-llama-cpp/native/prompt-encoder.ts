import { parseBoundedJson, STORED_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { EngineError, invalidValue } from '@switchyard/engine-api/coded-error.js';
import { type Prompt } from '@switchyard/engine-api/text-backend.port.js';
import { type ChildInfo } from '../protocol.js';
import { type JinjaRenderer } from './backends.js';
import { ChatTemplate, type Piece } from './chat-template.js';
import { type NativeModel, tokenizer } from './native-model.js';
import { TOKEN } from './token-text.js';

/**
 * Longest token that any vocabulary is expected to have, in bytes; only guards against
 * texts of many megabytes.
 */
const LONGEST_TOKEN_BYTES = 256;

/**
 * What callers sent as tokens of the model.
 * @param contextTokens tokens of one sequence
 * @returns `traits`: what is known of the model by its template
 */
export function promptEncoder(native: NativeModel, Renderer: JinjaRenderer, contextTokens: number) {
  const template = native.library.template(native.model, null);
  const chat =
    template === null ? undefined : new ChatTemplate(template, Renderer, specialTexts(native));
  const tokensOf = tokenCutter(native);
  const traits: Pick<ChildInfo, 'chat' | 'toolForm' | 'thinks'> = {
    chat: chat !== undefined,
    toolForm: chat?.toolForm ?? 'hermes',
    thinks: template?.includes('</think>') ?? false,
  };
  /** @param json a `Prompt`. @throws EngineError */
  const encode = (json: string): Uint32Array => {
    const prompt = parseBoundedJson(json, STORED_BOUNDS) as Prompt;
    if (prompt.type === 'tokens') return Uint32Array.from(prompt.tokens);
    const isText = prompt.type === 'text';
    const param = isText ? 'prompt' : 'messages';
    const pieces = isText ? [{ text: prompt.text, control: true }] : rendered(chat, prompt);
    demandFitting(pieces, param, contextTokens);
    return tokensOf(pieces);
  };
  return { traits, encode };
}

function rendered(
  chat: ChatTemplate | undefined,
  prompt: Extract<Prompt, { type: 'chat' }>,
): readonly Piece[] {
  if (chat !== undefined) return chat.render(prompt);
  throw invalidValue(
    'The file of this model has no chat template, so it only continues text: use `/v1/completions`, ' +
      'or the file of a model that was tuned for chat.',
    'model',
  );
}

function demandFitting(pieces: readonly Piece[], param: string, contextTokens: number): void {
  const bytes = pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  if (bytes > contextTokens * LONGEST_TOKEN_BYTES)
    throw new EngineError(
      'context_length_exceeded',
      `This model's maximum context length is ${contextTokens} tokens. ` +
        `However, your ${param} has ${bytes} bytes of text, which are more. ` +
        `Please reduce the length of the ${param}.`,
      { param },
    );
}

/** Cuts texts into tokens. The first text begins with the model's first token. */
function tokenCutter(native: NativeModel) {
  const { library, vocabulary } = native;
  const cut = tokenizer(native);
  const bos = controlToken(native, library.beginningOfText(vocabulary));
  const addsBos = library.addsBeginning(vocabulary);
  return (pieces: readonly Piece[]): Uint32Array => {
    const tokens = pieces.flatMap(({ text, control }) => [
      ...cut(text, { special: false, control }),
    ]);
    if (addsBos && tokens[0] !== bos) tokens.unshift(bos);
    return Uint32Array.from(tokens);
  };
}
/**
 * -1 where it is none: llama.cpp has numbers for the first and last token of models that
 * have neither.
 */
const controlToken = ({ library, vocabulary }: NativeModel, token: number): number =>
  token >= 0 && (library.tokenAttributes(vocabulary, token) & TOKEN.control) !== 0 ? token : -1;

function specialTexts(native: NativeModel) {
  const { library, vocabulary, vocabularySize } = native;
  const text = (token: number): string =>
    token < 0 ? '' : (library.tokenText(vocabulary, token) ?? '');
  const control: string[] = [];
  for (let token = 0; token < vocabularySize; token++)
    if ((library.tokenAttributes(vocabulary, token) & (TOKEN.control | TOKEN.unknown)) !== 0)
      control.push(text(token));
  // The longest first: one may be the beginning of another.
  const spelled = control.filter(spelling => spelling !== '').sort((a, b) => b.length - a.length);
  return {
    bos: text(controlToken(native, library.beginningOfText(vocabulary))),
    eos: text(controlToken(native, library.endOfText(vocabulary))),
    control: spelled,
  };
}

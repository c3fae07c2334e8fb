import { type Prompt } from '@switchyard/engine-api/text-backend.port.js';
import { ChatTemplate, type SpecialTexts } from './chat-template.js';
import { type NativeBindings, type NativeModel } from './library.js';
import { Refusal } from './serve-child.js';
import { TOKEN } from './token-text.js';

/**
 * Longest token that any vocabulary is expected to have, in bytes; only guards against
 * texts of many megabytes.
 */
const LONGEST_TOKEN_BYTES = 256;

interface EncoderParts {
  readonly bindings: NativeBindings;
  readonly model: NativeModel;
  readonly vocabularySize: number;
  /** Jinja, as the file has it; undefined: the model is not for chat. */
  readonly template: string | undefined;
  /** Tokens of one sequence. */
  readonly contextTokens: number;
}

/** What callers sent as tokens of the model. */
export class PromptEncoder {
  readonly #parts: EncoderParts;
  readonly #chat: ChatTemplate | undefined;

  constructor(parts: EncoderParts) {
    this.#parts = parts;
    const { bindings, template } = parts;
    this.#chat =
      template === undefined
        ? undefined
        : new ChatTemplate(template, bindings, this.#specialTexts());
  }

  get chat(): boolean {
    return this.#chat !== undefined;
  }

  get toolCalls(): boolean {
    return this.#chat?.toolCalls ?? false;
  }

  /** @throws Refusal */
  encode(prompt: Prompt): Uint32Array {
    switch (prompt.type) {
      case 'tokens':
        return Uint32Array.from(prompt.tokens);
      case 'text':
        return this.#begun([{ text: prompt.text, control: true }], 'prompt');
      case 'chat':
        if (this.#chat === undefined)
          throw new Refusal(
            'invalid_value',
            'The file of this model has no chat template, so it only continues text: use `/v1/completions`, ' +
              'or the file of a model that was tuned for chat.',
            'model',
          );
        return this.#begun(this.#chat.render(prompt), 'messages');
    }
  }

  /** Begins with the model's first token, once. */
  #begun(
    pieces: readonly { text: string; control: boolean }[],
    param: string,
  ): Uint32Array {
    const { model, contextTokens } = this.#parts;
    const bytes = pieces.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    if (bytes > contextTokens * LONGEST_TOKEN_BYTES)
      throw new Refusal(
        'context_length_exceeded',
        `This model's maximum context length is ${contextTokens} tokens. ` +
          `However, your ${param} has ${bytes} bytes of text, which are more. ` +
          `Please reduce the length of the ${param}.`,
        param,
      );
    const tokens = pieces.flatMap(({ text, control }) => [
      ...model.tokenize(text, control),
    ]);
    const bos = model.tokenBos();
    if (model.shouldPrependBosToken() && tokens[0] !== bos) tokens.unshift(bos);
    return Uint32Array.from(tokens);
  }

  #specialTexts(): SpecialTexts {
    const { model, vocabularySize } = this.#parts;
    const text = (token: number): string =>
      token < 0 ? '' : (model.getTokenString(token) ?? '');
    const control: string[] = [];
    for (let token = 0; token < vocabularySize; token++)
      if ((model.getTokenAttributes(token) & (TOKEN.control | TOKEN.unknown)) !== 0)
        control.push(text(token));
    // The longest first: one may be the beginning of another.
    const spelled = control
      .filter(spelling => spelling !== '')
      .sort((a, b) => b.length - a.length);
    return { bos: text(model.tokenBos()), eos: text(model.tokenEos()), control: spelled };
  }
}

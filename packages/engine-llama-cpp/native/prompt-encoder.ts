import { parseBoundedJson, STORED_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { EngineError, invalidValue } from '@switchyard/engine-api/coded-error.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type Prompt, type ToolForm } from '@switchyard/engine-api/text-backend.port.js';
import { type ChildInfo } from '../protocol.js';
import { type JinjaRenderer } from './backends.js';
import { type NativeModel, tokenizer } from './c-library.js';
import { longNumbersIn } from './long-numbers.js';
import { TOKEN } from './token-text.js';
import { withoutTools } from './toolless-template.js';

/** What the template of a model wants of calls. */
interface CallShape {
  /** It writes arguments as JSON itself, so it wants the object. */
  readonly objectArguments: boolean;
  /** Ids have nine letters and digits, or it refuses them. */
  readonly shortIds: boolean;
}

/** `chatMessages` has checked them. */
const templateMessages = (messages: readonly Fields[], shape: CallShape): readonly Fields[] =>
  messages.map(({ tool_calls: calls, tool_call_id: id, ...rest }) => ({
    ...rest,
    ...(id !== undefined && { tool_call_id: idOf(id, shape) }),
    ...(Array.isArray(calls) && {
      tool_calls: calls.map((call: Fields) => templateCall(call, shape)),
    }),
  }));

function templateCall(call: Fields, shape: CallShape): Fields {
  const called = call.function as { readonly arguments?: unknown };
  const given = called.arguments;
  const isObject = shape.objectArguments && typeof given === 'string';
  return {
    ...call,
    ...(call.id !== undefined && { id: idOf(call.id, shape) }),
    function: isObject ? { ...called, arguments: objectOf(given) } : called,
  };
}

const ID_LENGTH = 9;

const idOf = (id: unknown, { shortIds }: CallShape): unknown =>
  shortIds && typeof id === 'string'
    ? id
        .replace(/[^a-zA-Z0-9]/g, '')
        .slice(-ID_LENGTH)
        .padStart(ID_LENGTH, '0')
    : id;

/** Arguments that are no JSON object stay the text they are. */
function objectOf(text: string): unknown {
  try {
    const value = parseBoundedJson(text);
    return typeof value === 'object' && value !== null ? value : text;
  } catch {
    return text;
  }
}

/** Of a prompt; `control`: what spells a control token is one. */
interface Piece {
  readonly text: string;
  readonly control: boolean;
}

/** What only the chat template of a form has; the first that matches counts. */
const SIGNS: readonly (readonly [RegExp, ToolForm])[] = [
  [/<\|channel\|>/, 'gpt-oss'],
  [/<function=/, 'qwen-xml'],
  [/\[ARGS\]/, 'mistral-args'],
  [/\[TOOL_CALLS\]/, 'mistral'],
  [/<\|python_tag\|>|ipython/, 'llama3'],
];

/** The form in which the models of a chat template were trained to call tools. */
const toolFormOf = (template: string): ToolForm =>
  SIGNS.find(([sign]) => sign.test(template))?.[1] ?? 'hermes';

const PROBE = 'switchyard_probe';

const PROBE_USER = { role: 'user', content: 'x' };

/** The chat template that a model brings, run by llama.cpp's own Jinja. */
class ChatTemplate {
  /** How calls stand in an answer. */
  readonly toolForm: ToolForm;
  readonly #renderer: InstanceType<JinjaRenderer>;
  readonly #shape: CallShape;
  /** It writes tools into the prompt. */
  readonly #knowsTools: boolean;
  readonly #hasSystem: boolean;

  /** @throws Error when the template cannot be read. */
  constructor(
    template: string,
    Renderer: JinjaRenderer,
    private readonly texts: {
      readonly bos: string;
      readonly eos: string;
      /** Every text that the tokenizer takes for a control token. */
      readonly control: readonly string[];
    },
  ) {
    this.#renderer = new Renderer(template);
    this.#knowsTools = this.#tells({ messages: [PROBE_USER], tools: [PROBE_TOOL] });
    const form = toolFormOf(template);
    this.toolForm = this.#knowsTools ? form : 'hermes';
    const system = { role: 'system', content: PROBE };
    this.#hasSystem = this.#tells({ messages: [system, PROBE_USER] });
    this.#shape = {
      objectArguments:
        !this.#knowsTools ||
        form === 'qwen-xml' ||
        /"switchyard_probe"\s*:\s*1/.test(this.#probe({ messages: [PROBE_USER, PROBE_CALL] })),
      shortIds: form.startsWith('mistral'),
    };
  }

  /**
   * The prompt in pieces: text of the template, in which control tokens are meant, and
   * what callers wrote that looks like one and is text all the same. @throws EngineError with
   * the template's own words
   */
  render({
    messages,
    tools,
    variables = {},
  }: Omit<Extract<Prompt, { type: 'chat' }>, 'type'>): Piece[] {
    const numbers = longNumbersIn({
      messages: templateMessages(messages, this.#shape),
      tools,
      variables,
    });
    const disguise = disguiseOf(this.texts.control);
    const plain = disguise.of(numbers.plain.messages) as Fields[];
    const declared = disguise.of(numbers.plain.tools);
    try {
      const text = this.#render({
        ...(disguise.of(numbers.plain.variables) as object),
        ...(this.#knowsTools
          ? { messages: plain, ...(tools !== undefined && { tools: declared }) }
          : { messages: withoutTools(plain, declared, this.#hasSystem) }),
      });
      return disguise.reveal(numbers.reveal(text));
    } catch (error) {
      throw invalidValue(`The model's chat template refuses this: ${reasonIn(error)}`, 'messages');
    }
  }

  #render(variables: Fields): string {
    const { bos, eos } = this.texts;
    return this.#renderer.render({
      ...variables,
      add_generation_prompt: true,
      bos_token: bos,
      eos_token: eos,
    });
  }

  #tells(variables: Fields): boolean {
    return this.#probe(variables).includes(PROBE);
  }

  #probe(variables: Fields): string {
    try {
      return this.#render(variables);
    } catch {
      return '';
    }
  }
}

const PROBE_TOOL = {
  type: 'function',
  function: {
    name: PROBE,
    description: 'x',
    parameters: { type: 'object', properties: {} },
  },
};

const PROBE_CALL = {
  role: 'assistant',
  content: '',
  tool_calls: [
    {
      id: 'call00001',
      type: 'function',
      function: { name: 'x', arguments: { [PROBE]: 1 } },
    },
  ],
};

/** The last line says why; those before it show where in the template. */
const reasonIn = (error: unknown): string =>
  errorMessage(error)
    .trim()
    .split('\n')
    .at(-1)!
    .replace(/^Error: (Jinja Exception: )?/, '')
    .slice(0, 300);

/**
 * From the private use area: no vocabulary has them, and Jinja's filters
 * leave them alone.
 */
const MARK = '\uf8d0';

/**
 * Callers' text may spell a control token, such as the end of a turn. Each such spelling
 * is put away before the template is run and brought back afterwards as plain text, so
 * that no caller can write the turn of another role.
 */
function disguiseOf(control: readonly string[]) {
  const found: string[] = [];
  const spelled = [...control, MARK].map(text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = control.length > 0 ? new RegExp(spelled.join('|'), 'g') : undefined;
  const of = (value: unknown): unknown => {
    if (pattern === undefined) return value;
    if (typeof value === 'string')
      return value.replace(pattern, spelling => `${MARK}${found.push(spelling) - 1}${MARK}`);
    if (Array.isArray(value)) return value.map(of);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [of(key), of(item)]));
  };
  const reveal = (text: string): Piece[] =>
    text
      .split(new RegExp(`${MARK}(\\d+)${MARK}`))
      .map((piece, index) =>
        index % 2 === 0
          ? { text: piece, control: true }
          : { text: found[Number(piece)] ?? '', control: false },
      )
      .filter(({ text: piece }) => piece !== '');
  return { of, reveal };
}

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

/** Begins with the model's first token, once. */
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

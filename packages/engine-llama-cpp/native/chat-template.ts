import { invalidValue } from '@switchyard/engine-api/coded-error.js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { objectIn } from '@switchyard/engine-api/json-in.js';
import { type Prompt, type ToolForm } from '@switchyard/engine-api/text-backend.port.js';
import { type JinjaRenderer } from './backends.js';
import { longNumbersIn } from './long-numbers.js';
import { callsAsText, withoutTools } from './toolless-template.js';

/** The form in which a model's template takes calls. */
interface CallShape {
  /** It walks arguments or writes them as JSON itself, so it wants the object, not its text. */
  readonly objectArguments: boolean;
  /** Whether it also accepts the arguments of a call as JSON text. */
  readonly textArguments: boolean;
  /** Whether it only accepts ids of nine letters and digits. */
  readonly shortIds: boolean;
  /** Whether it rejects a message with two calls, or writes only the first. */
  readonly oneCall: boolean;
}

/** The messages in that form. `chatMessages` has checked them. */
const templateMessages = (messages: readonly Fields[], shape: CallShape): readonly Fields[] =>
  (shape.oneCall ? oneCallEach(messages) : messages).map(
    ({ tool_calls: calls, tool_call_id: id, ...rest }) => ({
      ...rest,
      ...(id !== undefined && { tool_call_id: idOf(id, shape) }),
      ...(Array.isArray(calls) && {
        tool_calls: calls.map((call: Fields) => templateCall(call, shape)),
      }),
    }),
  );

/** Each call as a message of its own, with its results behind it. */
function oneCallEach(messages: readonly Fields[]): readonly Fields[] {
  const split: Fields[] = [];
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at]!;
    const { tool_calls: calls } = message;
    if (!Array.isArray(calls) || calls.length < 2) {
      split.push(message);
      continue;
    }
    const results: Fields[] = [];
    while (messages[at + 1]?.role === 'tool') results.push(messages[++at]!);
    const resultsOf = Map.groupBy(results, ({ tool_call_id: id }) => id);
    for (const [index, call] of (calls as readonly Fields[]).entries()) {
      split.push({ ...message, ...(index > 0 && { content: '' }), tool_calls: [call] });
      split.push(...(resultsOf.get(call.id) ?? []));
      resultsOf.delete(call.id);
    }
    split.push(...[...resultsOf.values()].flat());
  }
  return split;
}

function templateCall(call: Fields, shape: CallShape): Fields {
  const called = call.function as { readonly arguments?: unknown };
  // Clients send an empty text for a call without arguments.
  const given = called.arguments === '' ? '{}' : called.arguments;
  const wanted = typeof given === 'string' ? argumentsFor(given, shape) : given;
  return {
    ...call,
    ...(call.id !== undefined && { id: idOf(call.id, shape) }),
    function: { ...called, arguments: wanted },
  };
}

/** @throws EngineError for a text that is no JSON object, where the template reads nothing else */
function argumentsFor(text: string, { objectArguments, textArguments }: CallShape): unknown {
  if (!objectArguments) return text;
  const value = objectIn(text);
  if (value !== undefined || textArguments) return value ?? text;
  throw invalidValue(
    `The chat template of this model reads only JSON objects as arguments of earlier calls; got "${text.slice(0, 100)}".`,
    'messages',
  );
}

const ID_LENGTH = 9;

const idOf = (id: unknown, { shortIds }: CallShape): unknown =>
  shortIds && typeof id === 'string'
    ? id
        .replace(/[^a-zA-Z0-9]/g, '')
        .slice(-ID_LENGTH)
        .padStart(ID_LENGTH, '0')
    : id;

/** A part of a prompt. `control`: text that spells a control token becomes one. */
export interface Piece {
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
export class ChatTemplate {
  /** How the model writes calls in an answer. */
  readonly toolForm: ToolForm;
  readonly #renderer: InstanceType<JinjaRenderer>;
  readonly #shape: CallShape;
  /** Whether it writes tools into the prompt. */
  readonly #knowsTools: boolean;
  /** Whether it writes earlier calls into the prompt. */
  readonly #knowsCalls: boolean;
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
    this.#knowsTools = this.#tells({ messages: [PROBE_USER], tools: [probeTool(PROBE)] });
    const form = toolFormOf(template);
    this.toolForm = this.#knowsTools ? form : 'hermes';
    const asObject = this.#probe(probeCall({ [PROBE]: 1 }));
    const asText = this.#probe(probeCall(`{"${PROBE}": 1}`));
    this.#knowsCalls = `${asObject}${asText}`.includes(PROBE);
    const system = { role: 'system', content: PROBE };
    this.#hasSystem = this.#tells({ messages: [system, PROBE_USER] });
    const writesCalls = this.#knowsTools && this.#knowsCalls;
    this.#shape = {
      objectArguments: !writesCalls || (asObject.includes(PROBE) && !PRINTED.test(asObject)),
      textArguments: !writesCalls || asText !== '',
      shortIds: form.startsWith('mistral'),
      oneCall: writesCalls && !this.#tellsTwo(asText !== ''),
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
          ? {
              messages: this.#knowsCalls ? plain : plain.map(callsAsText),
              ...(tools !== undefined && { tools: declared }),
            }
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

  #tellsTwo(asText: boolean): boolean {
    const [one, two] = [1, 2].map(n => ({ [`${PROBE}_${n}`]: 1 }));
    const text = this.#probe(
      asText ? probeCall(writeJson(one), writeJson(two)) : probeCall(one, two),
    );
    return text.includes(`${PROBE}_1`) && text.includes(`${PROBE}_2`);
  }

  #probe(variables: Fields): string {
    try {
      return this.#render(variables);
    } catch {
      return '';
    }
  }
}

const probeTool = (name: string) => ({
  type: 'function',
  function: { name, description: 'x', parameters: { type: 'object', properties: {} } },
});

function probeCall(...given: readonly unknown[]): Fields {
  const calls = given.map((value, at) => ({
    id: `call0000${at + 1}`,
    type: 'function',
    function: { name: 'x', arguments: value },
  }));
  const messages = [
    PROBE_USER,
    { role: 'assistant', content: '', tool_calls: calls },
    ...calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'x' })),
  ];
  return { messages, tools: [probeTool('x')] };
}

/** An object that was written as Python does: the template expects a text in its place. */
const PRINTED = new RegExp(`'${PROBE}'`);

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

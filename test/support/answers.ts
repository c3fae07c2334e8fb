import {
  type GenerateItem,
  type GenerationEvent,
} from '../../src/worker/engines/text-generator.js';

export type DoneEvent = Extract<GenerationEvent, { type: 'done' }>;

export interface AnswerChoice {
  readonly index: number;
  readonly finish_reason: string | null;
  readonly delta?: {
    readonly role?: string;
    readonly content?: string;
    readonly tool_calls?: readonly object[];
  };
  readonly message?: {
    readonly content: string | null;
    readonly tool_calls?: readonly object[];
  };
  readonly text?: string;
  readonly token_ids?: readonly number[];
  readonly logprobs?: unknown;
}

/** A chunk, or a whole answer. */
export interface AnswerObject {
  readonly id: string;
  readonly object: string;
  readonly choices: readonly AnswerChoice[];
  readonly usage?: unknown;
}

/** One request in the form of an engine's item. */
export function askItem(fields: object, changes: Partial<GenerateItem> = {}): GenerateItem {
  const { stream = false } = fields as { stream?: boolean };
  return {
    ...{
      requestId: 'r1',
      form: 'chat',
      stream,
      maxTokens: 0,
      n: 1,
      priority: 'batch',
      tenant: '',
    },
    body: Buffer.from(JSON.stringify({ model: 'm', ...fields })),
    signal: new AbortController().signal,
    ...changes,
  };
}

export const says = (content: string, fields: object = {}): object => ({
  messages: [{ role: 'user', content }],
  temperature: 0,
  ...fields,
});

/** Everything an engine yields for one item. */
export async function answerOf(
  events: AsyncIterable<GenerationEvent>,
): Promise<{ readonly objects: readonly AnswerObject[]; readonly done: DoneEvent }> {
  const objects: AnswerObject[] = [];
  let done: DoneEvent | undefined;
  for await (const event of events) {
    if (done) throw new Error('something after done');
    if (event.type === 'done') done = event;
    else objects.push(JSON.parse(event.json) as AnswerObject);
  }
  if (!done) throw new Error('no done');
  return { objects, done };
}

/** The text of a choice, streamed or whole. */
export const textOf = (objects: readonly AnswerObject[], index = 0): string =>
  objects
    .flatMap(({ choices }) => choices)
    .filter(choice => choice.index === index)
    .map(({ delta, message, text }) => delta?.content ?? message?.content ?? text ?? '')
    .join('');

import { isObject } from '@switchyard/engine-api/is-object.js';
import {
  always,
  ANY_TEXT,
  defaulted,
  filled,
  objectsUpTo,
  oneOf,
  optional,
  textOr,
  textUpTo,
  unserved,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';

/**
 * What a conversation consists of, in OpenAI's words: how items are given, generated and
 * stored. A schema reads an item whose type and id are given.
 */

const MOST_PARTS = 1000;

const STATUS = defaulted(oneOf(['in_progress', 'completed', 'incomplete']), 'completed');

const INPUT_IMAGE = z.object({
  type: z.literal('input_image'),
  file_id: unserved('images are given by `image_url`'),
  /** http, https or a data URL. */
  image_url: filled(),
  detail: defaulted(oneOf(['low', 'high', 'auto']), 'auto'),
});

/** Libraries that speak chat, too, mix up its parts and those of Responses. */
const inputText = (...names: readonly string[]) =>
  z.object({
    type: z.literal(['input_text', ...names]).transform(() => 'input_text' as const),
    text: ANY_TEXT,
  });

type Forms = readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]];

const parts = <const F extends Forms>(...forms: F) =>
  objectsUpTo(
    MOST_PARTS,
    z.discriminatedUnion('type', forms, {
      error: ({ input }) =>
        isObject(input) ? 'must be input_text or input_image' : 'must be an object',
    }),
  );

const OUTPUT_TEXT = z.object({
  type: z.literal('output_text'),
  text: ANY_TEXT,
  annotations: always<readonly object[]>([]),
  logprobs: always<readonly object[]>([]),
});

const REFUSAL = z.object({ type: z.literal('refusal'), refusal: filled() });

const texts = <const T extends string>(type: T) =>
  defaulted(
    objectsUpTo(MOST_PARTS, z.object({ type: always(type), text: ANY_TEXT }, 'must be an object')),
    [],
  );

const ID = textUpTo(256);
const item = <const T extends string, F extends z.ZodRawShape>(types: readonly T[], fields: F) =>
  z.object({ type: z.literal(types), id: ID, ...fields });

/** Fields that a call and its output share; `call_id` connects them. */
const CALL = {
  call_id: filled(256),
  namespace: optional(textUpTo(128)),
  status: STATUS,
};
const NAME = filled(128);

const MESSAGE = item(['message'], {
  status: STATUS,
  role: oneOf(['user', 'assistant', 'system', 'developer']),
  content: parts(OUTPUT_TEXT, REFUSAL, inputText('text'), INPUT_IMAGE),
});
const REASONING = item(['reasoning'], {
  summary: texts('summary_text'),
  content: texts('reasoning_text'),
  encrypted_content: optional(ANY_TEXT),
  status: STATUS,
});
/** The arguments are JSON, as the model wrote it. */
const FUNCTION_CALL = item(['function_call'], {
  ...CALL,
  name: NAME,
  arguments: ANY_TEXT,
});
/** A call of a custom tool, whose input is one text. */
const CUSTOM_CALL = item(['custom_tool_call'], { ...CALL, name: NAME, input: ANY_TEXT });
const CALL_OUTPUT = item(['function_call_output', 'custom_tool_call_output'], {
  ...CALL,
  output: textOr(parts(inputText('output_text', 'text'), INPUT_IMAGE)),
});

/** By type: how it is read, and how an id of it begins. */
export const RESPONSE_ITEMS = {
  message: [MESSAGE, 'msg'],
  reasoning: [REASONING, 'rs'],
  function_call: [FUNCTION_CALL, 'fc'],
  custom_tool_call: [CUSTOM_CALL, 'ctc'],
  function_call_output: [CALL_OUTPUT, 'fco'],
  custom_tool_call_output: [CALL_OUTPUT, 'fco'],
} as const;

/** In the input: an item of an earlier response, by its id. */
export const ITEM_REFERENCE = item(['item_reference'], {});

export type MessageItem = z.output<typeof MESSAGE>;
type ReasoningItem = z.output<typeof REASONING>;
export type ResponseItem =
  | MessageItem
  | ReasoningItem
  | z.output<typeof FUNCTION_CALL>
  | z.output<typeof CUSTOM_CALL>
  | z.output<typeof CALL_OUTPUT>;
export type ItemReference = z.output<typeof ITEM_REFERENCE>;

/** What an answer is made of: messages, and thoughts. */
export type OutputPart =
  | z.output<typeof OUTPUT_TEXT>
  | z.output<typeof REFUSAL>
  | ReasoningItem['content'][number];

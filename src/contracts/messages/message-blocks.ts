import { z } from 'zod';
import {
  ANY_TEXT,
  defaulted,
  filled,
  FLAG,
  OBJECT,
  objectsUpTo,
  oneOf,
  optional,
  textOr,
  textUpTo,
} from '../schema/rules.js';
import { TOOL_NAME } from '../openai/read-tools.js';

const MOST_BLOCKS = 10_000;
const MOST_TOOLS = 1024;

const block = <const T extends string, F extends z.ZodRawShape>(type: T, fields: F) =>
  z.object({ type: z.literal(type), ...fields });

const TEXT = block('text', { text: ANY_TEXT });

const IMAGE = block('image', {
  source: z.discriminatedUnion(
    'type',
    [
      block('base64', { media_type: filled(100), data: filled() }),
      block('url', { url: filled() }),
    ],
    'must be base64 or url',
  ),
});

const SAID_OF_BLOCKS =
  'must be one of text, image, tool_use, tool_result, thinking, redacted_thinking';

const BLOCK = z.discriminatedUnion(
  'type',
  [
    TEXT,
    IMAGE,
    block('tool_use', { id: filled(), name: TOOL_NAME, input: OBJECT }),
    block('tool_result', {
      tool_use_id: filled(),
      content: defaulted(
        textOr(
          objectsUpTo(
            MOST_BLOCKS,
            z.discriminatedUnion('type', [TEXT, IMAGE], 'must be one of text, image'),
          ),
        ),
        '',
      ),
      is_error: defaulted(FLAG, false),
    }),
    block('thinking', { thinking: ANY_TEXT }),
    block('redacted_thinking', {}),
  ],
  SAID_OF_BLOCKS,
);

const MESSAGE = z.object(
  {
    /** `system`: agents add instructions within a conversation. */
    role: oneOf(['user', 'assistant', 'system']),
    content: textOr(objectsUpTo(MOST_BLOCKS, BLOCK)),
  },
  'must be an object',
);

const PARALLEL = { disable_parallel_tool_use: defaulted(FLAG, false) };

/** What the fields of a message hold, beside single values. */
export const MESSAGE_OBJECTS = z.object({
  messages: objectsUpTo(MOST_BLOCKS, MESSAGE).min(1, 'must hold at least one message'),
  system: defaulted(textOr(objectsUpTo(MOST_BLOCKS, TEXT)), ''),
  tool_choice: optional(
    z.discriminatedUnion(
      'type',
      [
        block('auto', PARALLEL),
        block('any', PARALLEL),
        block('none', {}),
        block('tool', { name: TOOL_NAME, ...PARALLEL }),
      ],
      'must be one of auto, any, none, tool',
    ),
  ),
  thinking: optional(
    z.discriminatedUnion(
      'type',
      [block('enabled', {}), block('disabled', {}), block('adaptive', {})],
      'must be one of enabled, disabled, adaptive',
    ),
  ),
  metadata: optional(z.object({ user_id: optional(textUpTo(512)) }, 'must be an object')),
});

/** A tool that the caller runs. */
export const MESSAGE_TOOL = z.object(
  { name: TOOL_NAME, description: optional(ANY_TEXT), input_schema: OBJECT },
  'must be an object',
);

/** Tools with another type are run, or defined, by Anthropic. */
export const MESSAGE_TOOLS = objectsUpTo(
  MOST_TOOLS,
  z.looseObject({ type: defaulted(textUpTo(64), 'custom') }, 'must be an object'),
);

export type MessageObjects = z.output<typeof MESSAGE_OBJECTS>;
export type MessageBlock = z.output<typeof BLOCK>;
export type MessageTool = z.output<typeof MESSAGE_TOOL>;

/** Of an answer. */
export interface MessageUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens: 0;
  readonly cache_read_input_tokens: number;
}

export type AnswerBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
    };

/** The answer of `POST /v1/messages`. */
export interface MessageObject {
  readonly id: string;
  readonly type: 'message';
  readonly role: 'assistant';
  readonly model: string;
  readonly content: readonly AnswerBlock[];
  readonly stop_reason: string | null;
  readonly stop_sequence: string | null;
  readonly usage: MessageUsage;
}

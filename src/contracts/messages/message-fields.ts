import { fieldsIn } from '@switchyard/engine-api/is-object.js';
import {
  ANY_TEXT,
  ANYTHING,
  defaulted,
  filled,
  FLAG,
  OBJECT,
  objectsUpTo,
  oneOf,
  optional,
  textOr,
  textUpTo,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import { TOOL_NAME } from '../openai/read-tools.js';

/** What the fields of a message hold, beside single values. */

const MOST_BLOCKS = 10_000;
const MOST_TOOLS = 1024;

const MARKED = { cache_control: ANYTHING.optional() };

const block = <const T extends string, F extends z.ZodRawShape>(type: T, fields: F) =>
  z.object({ type: z.literal(type), ...MARKED, ...fields });

const TEXT = block('text', { text: ANY_TEXT });

const IMAGE = block('image', {
  source: z.discriminatedUnion(
    'type',
    [block('base64', { media_type: filled(100), data: filled() }), block('url', { url: filled() })],
    'must be base64 or url',
  ),
});

const THOUGHT = block('redacted_thinking', {});

/** A block of a type that no model reads; `was` is that type. */
const UNREAD = block('unread', { was: z.string() });

const READ_TYPES: readonly unknown[] = [
  'text',
  'image',
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
];

/** Blocks of other types are read as `unread`. */
const readable = <S extends z.ZodType>(block: S) =>
  z.preprocess(given => {
    const { type, cache_control } = fieldsIn(given);
    if (typeof type !== 'string' || READ_TYPES.includes(type)) return given;
    return { type: 'unread', was: type, cache_control };
  }, block);

const RESULT = readable(
  z.discriminatedUnion('type', [TEXT, IMAGE, THOUGHT, UNREAD], 'must be one of text, image'),
);

const BLOCK = readable(
  z.discriminatedUnion(
    'type',
    [
      TEXT,
      IMAGE,
      block('tool_use', { id: filled(), name: TOOL_NAME, input: OBJECT }),
      block('tool_result', {
        tool_use_id: filled(),
        content: defaulted(textOr(objectsUpTo(MOST_BLOCKS, RESULT)), ''),
        is_error: defaulted(FLAG, false),
      }),
      block('thinking', { thinking: ANY_TEXT }),
      THOUGHT,
      UNREAD,
    ],
    `must be one of ${READ_TYPES.join(', ')}`,
  ),
);

const MESSAGE = z.object(
  {
    /** `system`: agents add instructions within a conversation. */
    role: oneOf(['user', 'assistant', 'system']),
    content: textOr(objectsUpTo(MOST_BLOCKS, BLOCK)),
  },
  'must be an object',
);

export const CONVERSATION = objectsUpTo(MOST_BLOCKS, MESSAGE).min(
  1,
  'must hold at least one message',
);

export const INSTRUCTIONS = defaulted(textOr(objectsUpTo(MOST_BLOCKS, TEXT)), '');

const CUSTOM_TOOL = block('custom', {
  name: TOOL_NAME,
  description: optional(ANY_TEXT),
  input_schema: OBJECT,
});

export type CustomTool = z.output<typeof CUSTOM_TOOL>;

/** Tools with another type than `custom` are run, or defined, by Anthropic. */
const TOOL = z.preprocess(
  given => {
    const { type, ...fields } = fieldsIn(given);
    if (type == null) return { ...fields, type: 'custom' };
    const isOther = typeof type === 'string' && type !== 'custom';
    return isOther ? { type: 'other', was: type, cache_control: fields.cache_control } : given;
  },
  z.discriminatedUnion('type', [CUSTOM_TOOL, block('other', { was: textUpTo(64) })], {
    error: ({ code }) => (code === 'invalid_union' ? 'must be a string' : 'must be an object'),
  }),
);

export const TOOLS = defaulted(objectsUpTo(MOST_TOOLS, TOOL), []);

const PARALLEL = { disable_parallel_tool_use: defaulted(FLAG, false) };

export const TOOL_CHOICE = optional(
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
);

export const THINKING = optional(
  z.discriminatedUnion(
    'type',
    [block('enabled', {}), block('disabled', {}), block('adaptive', {})],
    'must be one of enabled, disabled, adaptive',
  ),
);

/** The form of the answer: text that is valid under a JSON schema. */
export const FORMAT = optional(
  z.object({ type: oneOf(['json_schema']), schema: OBJECT }, 'must be an object'),
);

export const OUTPUT = optional(z.object({ format: FORMAT }, 'must be an object'));

export const METADATA = optional(
  z.object({ user_id: optional(textUpTo(512)) }, 'must be an object'),
);

export type MessageBlock = z.output<typeof BLOCK>;

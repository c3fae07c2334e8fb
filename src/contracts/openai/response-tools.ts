import { z } from 'zod';
import {
  always,
  ANY_TEXT,
  defaulted,
  filled,
  FLAG,
  OBJECT,
  oneOf,
  optional,
  orNull,
  textUpTo,
} from '../schema/rules.js';

const LONGEST_NAME = 128;

/** What a model calls, and the name of a format. */
export const TOOL_NAME = filled(LONGEST_NAME).regex(
  /^[\w.-]+$/,
  'must be made of letters, digits, dots, underscores and dashes',
);

const HEAD = { name: TOOL_NAME, description: orNull(ANY_TEXT) };

const tool = <const T extends string, F extends z.ZodRawShape>(type: T, fields: F) =>
  z.object({ type: always(type), ...HEAD, ...fields }, 'must be an object');

export const FUNCTION = tool('function', {
  parameters: orNull(OBJECT),
  strict: orNull(FLAG),
});
/** Takes one text. */
export const CUSTOM = tool('custom', { format: optional(OBJECT) });

export const NAMESPACE = tool('namespace', {});
export type Callable =
  z.output<typeof FUNCTION> | Omit<z.output<typeof CUSTOM>, 'format'>;

interface NamespaceTool extends z.output<typeof NAMESPACE> {
  readonly tools: readonly Callable[];
}

export type ResponseTool = Callable | NamespaceTool;

export const NAMED = z.object(
  { name: TOOL_NAME, namespace: optional(textUpTo(LONGEST_NAME)) },
  'must be an object',
);

export interface NamedTool extends z.output<typeof NAMED> {
  readonly type: Callable['type'];
}

export const ALLOWED = z.object({
  mode: defaulted(oneOf(['auto', 'required', 'none']), 'auto'),
});

/** Some of the tools, in place of all. */
interface AllowedTools extends z.output<typeof ALLOWED> {
  readonly type: 'allowed_tools';
  readonly tools: readonly NamedTool[];
}

export type ToolChoice = 'auto' | 'none' | 'required' | NamedTool | AllowedTools;

import {
  ANY_TEXT,
  defaulted,
  FLAG,
  OBJECT,
  oneOf,
  optional,
  orNull,
  textUpTo,
} from '@switchyard/engine-api/rules.js';
import { z } from 'zod';
import { type ResponseTool, TOOL_NAME, type ToolChoice } from './read-tools.js';
import { type ItemReference, type OutputPart, type ResponseItem } from './response-items.js';
import { type CreateResponseRequest } from './response.dto.js';
import { type SamplingRequest, type USUAL_SAMPLING } from './sampling.js';

/** `/v1/responses` in OpenAI's words, as the public Open Responses schema has them. */

const FORMAT = z
  .looseObject({ type: oneOf(['text', 'json_object', 'json_schema']) }, 'must be an object')
  .pipe(
    z.discriminatedUnion('type', [
      z.object({ type: z.literal(['text', 'json_object']) }),
      z.object({
        type: z.literal('json_schema'),
        name: TOOL_NAME,
        description: orNull(ANY_TEXT),
        schema: OBJECT,
        strict: defaulted(FLAG, false),
      }),
    ]),
  );

const TEXT = z.object(
  {
    format: defaulted(FORMAT, { type: 'text' }),
    verbosity: optional(oneOf(['low', 'medium', 'high'])),
  },
  'must be an object',
);

const REASONING = z
  .object(
    {
      effort: orNull(textUpTo(64)),
      summary: orNull(textUpTo(64)),
      /** The older name of `summary`. */
      generate_summary: orNull(textUpTo(64)),
    },
    'must be an object',
  )
  .transform(({ effort, summary, generate_summary: older }) => ({
    effort,
    summary: summary ?? older,
  }));

/** The fields of a request that are objects and that its response repeats. */
export const RESPONSE_OBJECTS = z.object({
  text: defaulted(TEXT, { format: { type: 'text' } }),
  reasoning: orNull(REASONING),
});

/** What a request asks for and its response repeats. */
interface ResponseParams
  extends
    Pick<
      CreateResponseRequest,
      | 'instructions'
      | 'previous_response_id'
      | 'parallel_tool_calls'
      | 'max_output_tokens'
      | 'max_tool_calls'
      | 'truncation'
      | 'top_logprobs'
      | 'metadata'
      | 'user'
      | 'safety_identifier'
      | 'prompt_cache_key'
      | 'background'
    >,
    z.output<typeof RESPONSE_OBJECTS> {
  readonly tools: readonly ResponseTool[];
  readonly tool_choice: ToolChoice;
  readonly store: boolean;
}

/**
 * A validated body of `POST /v1/responses`: defaults filled in, items complete, those of
 * the input with ids.
 */
export interface ResponseRequest extends ResponseParams, SamplingRequest {
  /** Id or alias of the model, as the request has it. */
  readonly model: string;
  readonly input: readonly (ResponseItem | ItemReference)[];
  readonly include: readonly string[];
  readonly stream: boolean;
}

interface ResponseError {
  readonly code: string;
  readonly message: string;
}

/** The answer. Times are Unix seconds. */
export interface ResponseObject extends ResponseParams, Readonly<typeof USUAL_SAMPLING> {
  readonly id: string;
  readonly object: 'response';
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly status: 'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';
  readonly incomplete_details: {
    readonly reason: 'max_output_tokens' | 'content_filter';
  } | null;
  readonly error: ResponseError | null;
  readonly model: string;
  readonly output: readonly ResponseItem[];
  readonly usage: {
    readonly input_tokens: number;
    readonly input_tokens_details: {
      readonly cached_tokens: number;
      readonly cache_write_tokens: number;
    };
    readonly output_tokens: number;
    readonly output_tokens_details: { readonly reasoning_tokens: number };
    readonly total_tokens: number;
  } | null;
  readonly service_tier: string;
}

/** What has a text that comes in pieces: parts of items, and calls. */
type TextName =
  | 'output_text'
  | 'refusal'
  | 'reasoning_text'
  | 'function_call_arguments'
  | 'custom_tool_call_input';

/** An event without its number. */
export type ResponseEventBody =
  | { readonly type: ResponseStatusEvent; readonly response: ResponseObject }
  /** The last but one event of a response that failed. */
  | {
      readonly type: 'error';
      readonly error: ResponseError & {
        readonly type: string;
        readonly param: string | null;
      };
    }
  | {
      readonly type: 'response.output_item.added' | 'response.output_item.done';
      readonly output_index: number;
      readonly item: ResponseItem;
    }
  | (TextPlace & {
      readonly type: 'response.content_part.added' | 'response.content_part.done';
      readonly part: OutputPart;
    })
  | (TextPlace & {
      readonly type: `response.${TextName}.delta`;
      readonly delta: string;
      readonly logprobs?: readonly object[];
    })
  /** The whole text is in a field that is named as in the part or the call. */
  | (TextPlace & { readonly type: `response.${TextName}.done` });

export type ResponseStatusEvent =
  | 'response.created'
  | 'response.queued'
  | 'response.in_progress'
  | 'response.completed'
  | 'response.incomplete'
  | 'response.failed';

interface TextPlace {
  readonly item_id: string;
  readonly output_index: number;
  /** Place of the part in its item. */
  readonly content_index?: number;
}

/** What is streamed: numbers count from 0 without gaps. */
export type ResponseEvent = ResponseEventBody & { readonly sequence_number: number };

/** After one of these a response changes no more. */
export const FINAL_EVENTS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
] satisfies ResponseStatusEvent[]);

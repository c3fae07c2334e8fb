import { type SamplingRequest, type USUAL_SAMPLING } from './generation.dto.js';

/** `/v1/responses` in OpenAI's words, as the public Open Responses schema has them. */

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface InputTextPart {
  readonly type: 'input_text';
  readonly text: string;
}

export interface InputImagePart {
  readonly type: 'input_image';
  /** http, https or a data URL. */
  readonly image_url: string;
  readonly detail: 'low' | 'high' | 'auto';
}

export interface OutputTextPart {
  readonly type: 'output_text';
  readonly text: string;
  readonly annotations: readonly object[];
  readonly logprobs: readonly object[];
}

export interface RefusalPart {
  readonly type: 'refusal';
  readonly refusal: string;
}

export interface ReasoningTextPart {
  readonly type: 'reasoning_text';
  readonly text: string;
}

export interface SummaryTextPart {
  readonly type: 'summary_text';
  readonly text: string;
}

export type InputPart = InputTextPart | InputImagePart;
export type MessagePart = InputPart | OutputTextPart | RefusalPart;

export type MessageRole = 'user' | 'assistant' | 'system' | 'developer';

export interface MessageItem {
  readonly type: 'message';
  readonly id: string;
  readonly status: ItemStatus;
  readonly role: MessageRole;
  readonly content: readonly MessagePart[];
}

interface CallItem {
  readonly id: string;
  /** What the output of the call refers to. */
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly status: ItemStatus;
}

export interface FunctionCallItem extends CallItem {
  readonly type: 'function_call';
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

/** Of a tool that takes one text. */
export interface CustomToolCallItem extends CallItem {
  readonly type: 'custom_tool_call';
  readonly input: string;
}

export interface CallOutputItem {
  readonly type: 'function_call_output' | 'custom_tool_call_output';
  readonly id: string;
  readonly call_id: string;
  readonly output: string | readonly InputPart[];
  readonly status: ItemStatus;
}

export interface ReasoningItem {
  readonly type: 'reasoning';
  readonly id: string;
  readonly summary: readonly SummaryTextPart[];
  readonly content: readonly ReasoningTextPart[];
  readonly encrypted_content?: string | null;
  readonly status: ItemStatus;
}

/** What a conversation consists of, given or generated. */
export type ResponseItem =
  MessageItem | FunctionCallItem | CustomToolCallItem | CallOutputItem | ReasoningItem;

/** In the input: an item of an earlier response, by its id. */
export interface ItemReference {
  readonly type: 'item_reference';
  readonly id: string;
}

interface DeclaredTool {
  readonly name: string;
  readonly description: string | null;
}

export interface FunctionTool extends DeclaredTool {
  readonly type: 'function';
  readonly parameters: Readonly<Record<string, unknown>> | null;
  readonly strict: boolean | null;
}

/** Takes one text. */
export interface CustomTool extends DeclaredTool {
  readonly type: 'custom';
}

export interface NamespaceTool extends DeclaredTool {
  readonly type: 'namespace';
  readonly tools: readonly (FunctionTool | CustomTool)[];
}

export type ResponseTool = FunctionTool | CustomTool | NamespaceTool;

export interface NamedTool {
  readonly type: 'function' | 'custom';
  readonly name: string;
  readonly namespace?: string;
}

/** Some of the tools, in place of all. */
export interface AllowedTools {
  readonly type: 'allowed_tools';
  readonly mode: 'auto' | 'required' | 'none';
  readonly tools: readonly NamedTool[];
}

export type ToolChoice = 'auto' | 'none' | 'required' | NamedTool | AllowedTools;

export interface JsonSchemaFormat {
  readonly type: 'json_schema';
  readonly name: string;
  readonly description: string | null;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly strict: boolean;
}

export type TextFormat =
  { readonly type: 'text' } | { readonly type: 'json_object' } | JsonSchemaFormat;

/** What a request asks for and its response repeats. */
export interface ResponseParams {
  readonly instructions: string | null;
  readonly previous_response_id: string | null;
  readonly tools: readonly ResponseTool[];
  readonly tool_choice: ToolChoice;
  readonly parallel_tool_calls: boolean;
  readonly max_output_tokens: number | null;
  readonly max_tool_calls: number | null;
  readonly text: {
    readonly format: TextFormat;
    readonly verbosity?: 'low' | 'medium' | 'high';
  };
  readonly reasoning: {
    readonly effort: string | null;
    readonly summary: string | null;
  } | null;
  readonly truncation: 'auto' | 'disabled';
  readonly top_logprobs: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly user: string | null;
  readonly safety_identifier: string | null;
  readonly prompt_cache_key: string | null;
  readonly store: boolean;
  readonly background: boolean;
}

/**
 * A validated body of `POST /v1/responses`: defaults filled in, items complete, those of
 * the input with ids.
 */
export interface ResponseRequest extends ResponseParams, SamplingRequest {
  /** Id or alias, as it was asked for. */
  readonly model: string;
  readonly input: readonly (ResponseItem | ItemReference)[];
  readonly include: readonly string[];
  readonly stream: boolean;
}

export interface ResponseUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

export type ResponseStatus =
  'queued' | 'in_progress' | 'completed' | 'incomplete' | 'failed' | 'cancelled';

export interface ResponseError {
  readonly code: string;
  readonly message: string;
}

/** The same, and more, as the last but one event of a response that failed. */
export interface ResponseFailure extends ResponseError {
  readonly type: string;
  readonly param: string | null;
}

type UsedSampling = Readonly<typeof USUAL_SAMPLING>;

/** The answer. Times are Unix seconds. */
export interface ResponseObject extends ResponseParams, UsedSampling {
  readonly id: string;
  readonly object: 'response';
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly status: ResponseStatus;
  readonly incomplete_details: {
    readonly reason: 'max_output_tokens' | 'content_filter';
  } | null;
  readonly error: ResponseError | null;
  readonly model: string;
  readonly output: readonly ResponseItem[];
  readonly usage: ResponseUsage | null;
  readonly service_tier: string;
}

/** An event without its number. */
export type ResponseEventBody =
  | { readonly type: ResponseStatusEvent; readonly response: ResponseObject }
  | { readonly type: 'error'; readonly error: ResponseFailure }
  | {
      readonly type: 'response.output_item.added' | 'response.output_item.done';
      readonly output_index: number;
      readonly item: ResponseItem;
    }
  | (InPart & {
      readonly type: 'response.content_part.added' | 'response.content_part.done';
      readonly part: OutputTextPart | RefusalPart | ReasoningTextPart;
    })
  | (InPart & {
      readonly type: 'response.output_text.delta';
      readonly delta: string;
      readonly logprobs: readonly object[];
    })
  | (InPart & {
      readonly type: 'response.output_text.done';
      readonly text: string;
      readonly logprobs: readonly object[];
    })
  | (InPart & {
      readonly type: 'response.refusal.delta' | 'response.reasoning_text.delta';
      readonly delta: string;
    })
  | (InPart & { readonly type: 'response.refusal.done'; readonly refusal: string })
  | (InPart & { readonly type: 'response.reasoning_text.done'; readonly text: string })
  | (InItem & {
      readonly type:
        | 'response.function_call_arguments.delta'
        | 'response.custom_tool_call_input.delta';
      readonly delta: string;
    })
  | (InItem & {
      readonly type: 'response.custom_tool_call_input.done';
      readonly input: string;
    })
  | (InItem & {
      readonly type: 'response.function_call_arguments.done';
      readonly name: string;
      readonly arguments: string;
    });

export type ResponseStatusEvent =
  | 'response.created'
  | 'response.queued'
  | 'response.in_progress'
  | 'response.completed'
  | 'response.incomplete'
  | 'response.failed';

interface InItem {
  readonly item_id: string;
  readonly output_index: number;
}

interface InPart extends InItem {
  readonly content_index: number;
}

/** What is streamed: numbers count from 0 without gaps. */
export type ResponseEvent = ResponseEventBody & { readonly sequence_number: number };

/** After one of these a response changes no more. */
export const FINAL_EVENTS: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
] satisfies ResponseStatusEvent[]);

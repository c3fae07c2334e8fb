export type GenerationForm = 'chat' | 'completion';

/** What all chunks of one answer share. */
export interface GenerationHead {
  readonly form: GenerationForm;
  /** `chatcmpl-…`, `cmpl-…` */
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
}

/** OpenAI's `usage` of text. */
export interface TextUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Part of `promptTokens`. */
  readonly cachedTokens: number;
}

export interface ChoiceDelta {
  readonly index: number;
  readonly text: string;
  /** The first chunk of a choice says whose words they are. */
  readonly first: boolean;
  readonly finishReason: string | null;
}

export interface WholeChoice {
  readonly text: string;
  readonly finishReason: string;
}

/** `usageNull`: with `stream_options.include_usage` every chunk but the last says `usage: null`. */
export function generationChunk(head: GenerationHead, delta: ChoiceDelta, usageNull = false): object {
  const { index, text, first, finishReason } = delta;
  const said = { ...(first && { role: 'assistant' }), ...((text !== '' || first) && { content: text }) };
  const choice =
    head.form === 'chat'
      ? { index, delta: said, logprobs: null, finish_reason: finishReason }
      : { index, text, logprobs: null, finish_reason: finishReason };
  return { ...headFields(head, true), choices: [choice], ...(usageNull && { usage: null }) };
}

/** The last chunk of a stream with `include_usage`. */
export const usageChunk = (head: GenerationHead, usage: TextUsage): object => ({
  ...headFields(head, true),
  choices: [],
  usage: usageFields(usage),
});

/** The answer to a request without `stream`. */
export function generationBody(head: GenerationHead, choices: readonly WholeChoice[], usage: TextUsage): object {
  return {
    ...headFields(head, false),
    choices: choices.map(({ text, finishReason }, index) =>
      head.form === 'chat'
        ? {
            index,
            message: { role: 'assistant', content: text, refusal: null },
            logprobs: null,
            finish_reason: finishReason,
          }
        : { index, text, logprobs: null, finish_reason: finishReason },
    ),
    usage: usageFields(usage),
  };
}

export function usageFields({ promptTokens, completionTokens, cachedTokens }: TextUsage): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
  };
}

function headFields({ form, id, created, model }: GenerationHead, chunk: boolean): object {
  const object = form === 'completion' ? 'text_completion' : chunk ? 'chat.completion.chunk' : 'chat.completion';
  return { id, object, created, model };
}

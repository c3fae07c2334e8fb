import { END_USER } from './embedding.dto.js';
import {
  advice,
  byEngine,
  honoured,
  LARGEST_COUNT,
  listOfObjects,
  meaning,
  PASSED_ON,
  trueOrFalse,
  whole,
} from './field-types.js';
import { Field, PassesOn, RequiredField } from './field.decorators.js';
import { TextGenerationFields } from './text-fields.dto.js';

const TEMPLATE = 'Local models hand it to their chat template.';
const ADVICE = advice(PASSED_ON, 'Local models have no such setting.');
const KEPT = advice(PASSED_ON, 'Local models store no answers.');

/**
 * Fields of `POST /v1/chat/completions` that mean something to the gateway; all
 * others pass through.
 */
@PassesOn({
  tool_choice: byEngine(),
  parallel_tool_calls: byEngine(),
  functions: meaning(PASSED_ON, 'The older form of `tools`.'),
  audio: meaning(PASSED_ON, 'Local models answer in text.'),
  modalities: meaning(PASSED_ON, 'Local models answer in text; `text` alone always passes.'),
  web_search_options: meaning(PASSED_ON, 'Local models do not search.'),
  reasoning_effort: byEngine(TEMPLATE),
  chat_template_kwargs: byEngine(TEMPLATE),
  verbosity: ADVICE,
  prediction: ADVICE,
  prompt_cache_key: advice(PASSED_ON, 'Local models find common beginnings by themselves.'),
  safety_identifier: END_USER,
  store: KEPT,
  metadata: KEPT,
})
export class ChatCompletionDto extends TextGenerationFields {
  @RequiredField(listOfObjects('must be a list of messages'), {
    example: [{ role: 'user', content: 'What does a switchyard do?' }],
    description: 'At least one message, each with a `role`.',
  })
  messages!: readonly unknown[];

  @Field(whole(1, LARGEST_COUNT), { description: 'Most tokens of each choice.' })
  max_completion_tokens?: number;

  @Field(whole(1, LARGEST_COUNT), {
    description: 'Older name of `max_completion_tokens`.',
    rule: honoured('Older name of `max_completion_tokens`.'),
  })
  max_tokens?: number;

  @Field(trueOrFalse(), {
    default: false,
    description: 'Needs a model with that capability.',
    rule: meaning('logprobs'),
  })
  logprobs = false;

  @Field(whole(0, 20), {
    description: 'Only with `logprobs`.',
    rule: honoured('Refused without `logprobs`.'),
  })
  top_logprobs?: number;

  @Field(listOfObjects('must be a list of tools'), {
    description: 'Needs a model with that capability; calls of them pass through as they are.',
    rule: meaning(
      'tools',
      'Local models leave out what is neither function nor custom tool, with notice: `tools[7]`.',
    ),
  })
  tools?: readonly unknown[];
}

import { type FieldRule, type FieldRules } from './field-rules.js';

/** Of vLLM, llama.cpp and Ollama: how text is drawn, as no model here draws it. */
const FOREIGN_FIELDS = [
  'allowed_token_ids',
  'bad_words',
  'chat_template',
  'chat_template_kwargs',
  'continue_final_message',
  'documents',
  'ignore_eos',
  'include_stop_str_in_output',
  'length_penalty',
  'min_tokens',
  'mirostat',
  'n_predict',
  'options',
  'prompt_logprobs',
  'stop_token_ids',
  'think',
  'truncate_prompt_tokens',
  'typical_p',
  'use_beam_search',
];

export const foreignFields = (rule: FieldRule): FieldRules =>
  Object.fromEntries(FOREIGN_FIELDS.map(name => [name, rule]));

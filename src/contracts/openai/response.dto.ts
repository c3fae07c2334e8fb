import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsOptional, IsString } from 'class-validator';
import {
  Holds,
  InRange,
  Labels,
  LengthUpTo,
  OneOf,
  OptionalNumber,
  TextList,
  WholeNumber,
} from './field.decorators.js';
import { LARGEST_COUNT, TextModelFields } from './generation.dto.js';

/** Characters of a text. */
const LONGEST_TEXT = 10_485_760;
/** Of one conversation: each is an object in every step from the parser to the template. */
export const MOST_ITEMS = 10_000;

const isInput = (value: unknown): boolean =>
  value === undefined || (typeof value === 'string' ? value.length <= LONGEST_TEXT : isListOfItems(value));
const isListOfItems = (value: unknown): boolean => Array.isArray(value) && value.length <= MOST_ITEMS;

const Text =
  (longest: number): PropertyDecorator =>
  (target, key) => {
    IsOptional()(target, key);
    LengthUpTo(longest)(target, key);
    IsString({ message: 'must be a text' })(target, key);
  };

const Flag = (): PropertyDecorator => IsBoolean({ message: 'must be true or false' });

/** Fields of a conversation, which are those that count as input. Those without a rule are read by `FieldReader`. */
export class ResponseInputDto extends TextModelFields {
  @ApiPropertyOptional({
    oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }],
    example: 'What does a switchyard do?',
    description:
      'A text, or items: messages (`input_text`, `input_image` by URL, `output_text`), `function_call`, ' +
      '`function_call_output`, `custom_tool_call`, `custom_tool_call_output`, `reasoning`, and `item_reference` where ' +
      'responses are stored. Items of hosted tools are left out and reported.',
  })
  @Holds(isInput, `must be a text of at most ${LONGEST_TEXT} characters or a list of at most ${MOST_ITEMS} items`)
  input?: string | readonly unknown[];

  @ApiPropertyOptional({ type: String, description: 'Goes before the conversation, as a message of the system.' })
  @Text(LONGEST_TEXT)
  instructions?: string;

  @ApiPropertyOptional({ type: String, description: 'Continues that response; needs stored responses.' })
  @Text(256)
  previous_response_id?: string;

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'object' },
    description:
      '`function`, `custom`, and `namespace` of those; needs a model with the capability `tools`. Others are left out ' +
      'and reported.',
  })
  tools?: readonly unknown[];

  @ApiPropertyOptional({
    oneOf: [{ type: 'string', enum: ['auto', 'none', 'required'] }, { type: 'object' }],
    description: '`auto`, `none`, `required`, `{type: "function", name}`, or `{type: "allowed_tools", mode, tools}`.',
  })
  tool_choice?: unknown;

  @ApiPropertyOptional({ type: Boolean, default: true, description: 'Several calls in one answer.' })
  @Flag()
  parallel_tool_calls = true;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: '`format`: text, json_object or json_schema.',
  })
  text?: unknown;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: '`effort`: advice, for models that know it.',
  })
  reasoning?: unknown;

  @ApiPropertyOptional({
    enum: ['auto', 'disabled'],
    default: 'disabled',
    description: 'Nothing is cut: `auto` is advice.',
  })
  @OneOf(['auto', 'disabled'])
  truncation: 'auto' | 'disabled' = 'disabled';
}

/** Fields of `POST /v1/responses`. */
export class ResponseDto extends ResponseInputDto {
  @ApiPropertyOptional({ type: Boolean, default: false, description: 'Events as the answer is made, then `[DONE]`.' })
  @Flag()
  stream = false;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true, description: 'Only with `stream`.' })
  stream_options?: unknown;

  @ApiPropertyOptional({ type: Boolean, description: 'Default: true where responses are stored.' })
  @IsOptional()
  @Flag()
  store?: boolean;

  @ApiPropertyOptional({ type: Boolean, default: false, description: 'Answers at once; the work survives restarts.' })
  @Flag()
  background = false;

  @ApiPropertyOptional({ type: [String], description: '`message.output_text.logprobs`; others have nothing to add.' })
  @IsOptional()
  @TextList(20, 128)
  include?: readonly string[];

  @ApiPropertyOptional({ type: Number, minimum: 16, description: 'Most tokens of the answer.' })
  @IsOptional()
  @WholeNumber()
  @InRange(16, LARGEST_COUNT)
  max_output_tokens?: number;

  @ApiPropertyOptional({ type: Number, minimum: 1, description: 'Of hosted tools, of which there are none.' })
  @IsOptional()
  @WholeNumber()
  @InRange(1, LARGEST_COUNT)
  max_tool_calls?: number;

  @OptionalNumber(0, 2)
  temperature?: number;

  @OptionalNumber(0, 1)
  top_p?: number;

  @OptionalNumber(-2, 2)
  presence_penalty?: number;

  @OptionalNumber(-2, 2)
  frequency_penalty?: number;

  @ApiPropertyOptional({ type: Number, minimum: 0, maximum: 20, description: 'Alternatives of each token.' })
  @IsOptional()
  @WholeNumber()
  @InRange(0, 20)
  top_logprobs?: number;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Labels, returned as they are: at most 16, keys of 64 and values of 512 characters.',
  })
  @Labels()
  metadata?: Readonly<Record<string, string>>;

  @ApiPropertyOptional({ type: String, description: 'Returned as it is.' })
  @Text(512)
  user?: string;

  @ApiPropertyOptional({ type: String, description: 'Returned as it is.' })
  @Text(64)
  safety_identifier?: string;

  @ApiPropertyOptional({ type: String, description: 'Advice: equal beginnings are found without it.' })
  @Text(64)
  prompt_cache_key?: string;
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsOptional } from 'class-validator';
import { InRange, WholeNumber } from './field.decorators.js';
import { LARGEST_COUNT, TextGenerationFields } from './text-fields.js';

/** Fields of `POST /v1/chat/completions` that mean something to the gateway; all others pass through. */
export class ChatCompletionDto extends TextGenerationFields {
  @ApiProperty({
    type: 'array',
    items: { type: 'object' },
    example: [{ role: 'user', content: 'What does a switchyard do?' }],
    description: 'At least one message, each with a `role`.',
  })
  @IsArray({ message: 'must be a list of messages' })
  messages!: readonly unknown[];

  @ApiPropertyOptional({ type: Number, minimum: 1, description: 'Most tokens of each choice.' })
  @IsOptional()
  @WholeNumber()
  @InRange(1, LARGEST_COUNT)
  max_completion_tokens?: number;

  @ApiPropertyOptional({ type: Number, minimum: 1, description: 'Older name of `max_completion_tokens`.' })
  @IsOptional()
  @WholeNumber()
  @InRange(1, LARGEST_COUNT)
  max_tokens?: number;

  @ApiPropertyOptional({ type: Boolean, default: false, description: 'Needs a model with that capability.' })
  @IsBoolean({ message: 'must be true or false' })
  logprobs = false;

  @ApiPropertyOptional({ type: Number, minimum: 0, maximum: 20, description: 'Only with `logprobs`.' })
  @IsOptional()
  @WholeNumber()
  @InRange(0, 20)
  top_logprobs?: number;

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'object' },
    description: 'Needs a model with that capability; calls of them pass through as they are.',
  })
  @IsOptional()
  @IsArray({ message: 'must be a list of tools' })
  tools?: readonly unknown[];
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDefined, IsOptional } from 'class-validator';
import { Holds, InRange, WholeNumber } from './field.decorators.js';
import { LARGEST_COUNT, TextGenerationFields } from './text-fields.js';
import { isTextOrTokens, TEXT_OR_TOKENS } from './text-input.js';

/** Fields of `POST /v1/completions` that mean something to the gateway; all others pass through. */
export class CompletionDto extends TextGenerationFields {
  @ApiProperty({
    oneOf: [{ type: 'string' }, { type: 'array', items: {} }],
    example: 'A switchyard is',
    description: 'A text, its tokens, or a list of either; at most 2048 of them times `n`.',
  })
  @IsDefined({ message: TEXT_OR_TOKENS })
  @Holds(isTextOrTokens, TEXT_OR_TOKENS)
  prompt!: string | readonly unknown[];

  @ApiPropertyOptional({ type: Number, minimum: 0, description: 'Most tokens of each choice.' })
  @IsOptional()
  @WholeNumber()
  @InRange(0, LARGEST_COUNT)
  max_tokens?: number;

  @ApiPropertyOptional({ type: Number, minimum: 0, description: 'Needs a model with that capability.' })
  @IsOptional()
  @WholeNumber()
  @InRange(0, LARGEST_COUNT)
  logprobs?: number;
}

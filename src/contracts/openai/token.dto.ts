import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsNotEmpty, IsOptional, IsString } from 'class-validator';
import { Holds } from './field.decorators.js';

class TokenModelDto {
  @ApiProperty({ example: 'gpt-4o-mini', description: 'A model of kind `llm`.' })
  @IsString({ message: 'must be the name of a model' })
  @IsNotEmpty({ message: 'must be the name of a model' })
  model!: string;
}

/** Fields of `POST /tokenize`, as vLLM and llama.cpp have it; all others pass through. */
export class TokenizeDto extends TokenModelDto {
  @ApiPropertyOptional({ type: String, example: 'A switchyard is' })
  @IsOptional()
  @IsString({ message: 'must be text' })
  prompt?: string;

  @ApiPropertyOptional({ type: String, description: "llama.cpp's name of `prompt`." })
  @IsOptional()
  @IsString({ message: 'must be text' })
  content?: string;

  @ApiPropertyOptional({ type: 'array', items: { type: 'object' }, description: 'A chat, in place of `prompt`.' })
  @Holds(value => value === undefined || Array.isArray(value), 'must be a list of messages')
  messages?: readonly unknown[];
}

const isTokens = (value: unknown): boolean =>
  Array.isArray(value) && value.every(token => Number.isSafeInteger(token) && Number(token) >= 0);

/** Fields of `POST /detokenize`. */
export class DetokenizeDto extends TokenModelDto {
  @ApiProperty({ type: [Number], example: [1, 300, 301] })
  @Holds(isTokens, 'must be a list of token ids')
  tokens!: readonly number[];
}

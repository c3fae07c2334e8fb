import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsNumber } from 'class-validator';
import { InRange, NumberFromForm, OneOf } from './field.decorators.js';

const LONGEST_MS = 10_000;

/** The object form of `chunking_strategy`. Defaults are OpenAI's. */
export class ServerVadDto {
  @ApiProperty({ enum: ['server_vad'] })
  @OneOf(['server_vad'])
  type!: 'server_vad';

  @ApiPropertyOptional({ type: Number, minimum: 0, maximum: 1, default: 0.5, description: 'What counts as speech.' })
  @NumberFromForm()
  @IsNumber({ allowNaN: false, allowInfinity: false }, { message: 'must be a number from 0 to 1' })
  @InRange(0, 1)
  threshold = 0.5;

  @ApiPropertyOptional({ type: Number, minimum: 0, maximum: LONGEST_MS, default: 300 })
  @NumberFromForm()
  @IsInt({ message: `must be a whole number from 0 to ${LONGEST_MS}` })
  @InRange(0, LONGEST_MS)
  prefix_padding_ms = 300;

  @ApiPropertyOptional({ type: Number, minimum: 0, maximum: LONGEST_MS, default: 200 })
  @NumberFromForm()
  @IsInt({ message: `must be a whole number from 0 to ${LONGEST_MS}` })
  @InRange(0, LONGEST_MS)
  silence_duration_ms = 200;
}

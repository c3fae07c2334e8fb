import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsOptional } from 'class-validator';
import {
  BooleanFromForm,
  InRange,
  NumberFromForm,
  PageAfter,
  PageLimit,
  PageOrder,
  WholeNumber,
} from './field.decorators.js';
import { LARGEST_COUNT } from './generation.dto.js';

/** Of `GET /v1/responses/{id}`. */
export class RetrieveQueryDto {
  @IsOptional()
  @BooleanFromForm()
  @IsBoolean({ message: 'must be true or false' })
  @ApiPropertyOptional({ default: false, description: 'Events of a background response, as they come.' })
  stream = false;

  @IsOptional()
  @NumberFromForm()
  @WholeNumber()
  @InRange(0, LARGEST_COUNT)
  @ApiPropertyOptional({ minimum: 0, description: 'With `stream`: events with a greater `sequence_number` only.' })
  starting_after?: number;
}

/** Of `GET /v1/responses/{id}/input_items`. */
export class InputItemsQueryDto {
  @PageLimit(100, 20)
  limit = 20;

  @PageOrder()
  order: 'asc' | 'desc' = 'desc';

  @PageAfter('item')
  after?: string;
}

export class ResponseDeletedDto {
  @ApiProperty() id!: string;
  @ApiProperty({ example: 'response' }) object!: 'response';
  @ApiProperty({ example: true }) deleted!: true;
}

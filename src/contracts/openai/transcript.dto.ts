import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

export class DurationUsageDto {
  @ApiProperty({ example: 'duration' })
  type!: 'duration';

  @ApiProperty({ example: 4, description: 'Seconds of audio, rounded up.' })
  seconds!: number;
}

/** `response_format: json`; documentation only, the body is written by `formats/transcript-body.ts`. */
export class TranscriptDto {
  @ApiProperty({ example: 'the quick brown fox jumps over the lazy dog' })
  text!: string;

  @ApiPropertyOptional({ type: DurationUsageDto })
  usage?: DurationUsageDto;
}

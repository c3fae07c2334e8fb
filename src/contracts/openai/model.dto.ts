import { ApiProperty } from '@nestjs/swagger';

/**
 * One entry of `GET /v1/models`: a model, or an alias of one (then `root`
 * differs from `id`).
 */
export class ModelDto {
  @ApiProperty({ example: 'whisper-1' })
  id!: string;

  @ApiProperty({ example: 'model' })
  object!: 'model';

  @ApiProperty({
    example: 1763683200,
    description: 'Unix seconds at which this gateway started.',
  })
  created!: number;

  @ApiProperty({ example: 'switchyard' })
  owned_by!: string;

  @ApiProperty({
    example: 'pocketsphinx-en',
    description: 'The canonical id, which labels metrics and logs.',
  })
  root!: string;

  @ApiProperty({ enum: ['stt', 'tts', 'llm', 'embedding'] })
  kind!: 'stt' | 'tts' | 'llm' | 'embedding';

  @ApiProperty({ type: [String], example: ['transcribe', 'word_timestamps'] })
  capabilities!: readonly string[];

  @ApiProperty({ type: [String], example: ['en'], description: 'BCP-47; empty: any.' })
  languages!: readonly string[];

  @ApiProperty({
    enum: ['unloaded', 'loading', 'loaded', 'unloading', 'failed'],
    description:
      'unloaded: its workers are stopped; most often the next request starts them and waits.',
  })
  state!: string;

  @ApiProperty({
    type: [String],
    example: [],
    description: 'Voice names of a TTS model.',
  })
  voices!: readonly string[];
}

export class ModelListDto {
  @ApiProperty({ example: 'list' })
  object!: 'list';

  @ApiProperty({ type: [ModelDto] })
  data!: readonly ModelDto[];
}

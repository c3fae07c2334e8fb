import { ApiProperty } from '@nestjs/swagger';

export class VoiceDto {
  @ApiProperty({
    example: 'alloy',
    description: 'What `voice` of `POST /v1/audio/speech` may be.',
  })
  id!: string;
  @ApiProperty({ example: 'alloy' }) name!: string;
  @ApiProperty({ example: 'flite-en', description: 'Id of the model that has it.' })
  model!: string;
}

/**
 * Answer of `GET /v1/audio/voices`. OpenAI has no such route; the shape is the one that
 * Open WebUI reads.
 */
export class VoiceListDto {
  @ApiProperty({ type: [VoiceDto] }) voices!: readonly VoiceDto[];
}

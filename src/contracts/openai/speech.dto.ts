import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsNotEmpty, IsNumber, IsOptional, IsString, Matches } from 'class-validator';
import { SPEECH_FORMATS, type SpeechFormat } from '../formats/speech.js';
import { type ServiceTier } from './field-rules.js';
import { InRange, LengthUpTo, OneOf, ServiceTierField, Shaped } from './field.decorators.js';

export const SPEECH_INPUT_LIMIT = 4096;

const STREAM_FORMATS = ['audio', 'sse'] as const;
const VOICE = 'must be a voice name, or an object {"id": name}';

/** `{"id": "x"}` is OpenAI's newer spelling of `"x"`. */
const idOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'id' in value ? value.id : value;

/** Fields of `POST /v1/audio/speech`. Unknown ones are accepted and ignored, as newer clients send them. */
export class SpeechDto {
  @ApiProperty({ example: 'tts-1', description: 'A model id or alias; see `GET /v1/models`.' })
  @IsString({ message: 'must be the name of a model' })
  @IsNotEmpty({ message: 'must be the name of a model' })
  model!: string;

  @ApiProperty({ example: 'The quick brown fox jumps over the lazy dog.', minLength: 1, maxLength: SPEECH_INPUT_LIMIT })
  @IsString({ message: `must be text of 1 to ${SPEECH_INPUT_LIMIT} characters` })
  @IsNotEmpty({ message: `must be text of 1 to ${SPEECH_INPUT_LIMIT} characters` })
  @Matches(/\S/, { message: 'must hold something to say, not only spaces' })
  @LengthUpTo(SPEECH_INPUT_LIMIT)
  input!: string;

  @ApiProperty({
    example: 'alloy',
    description: 'A voice of the model, by name, in any case of letters, or as `{"id": name}`.',
  })
  @Shaped(idOf)
  @IsString({ message: VOICE })
  @IsNotEmpty({ message: VOICE })
  voice!: string;

  @ApiPropertyOptional({
    type: String,
    description: 'Ignored by models that cannot follow them.',
  })
  @IsOptional()
  @IsString({ message: 'must be text' })
  @LengthUpTo(SPEECH_INPUT_LIMIT)
  instructions = '';

  @ApiPropertyOptional({ enum: SPEECH_FORMATS, default: 'mp3', description: 'pcm is 24 kHz mono s16le.' })
  @OneOf(SPEECH_FORMATS)
  response_format: SpeechFormat = 'mp3';

  @ApiPropertyOptional({ type: Number, minimum: 0.25, maximum: 4, default: 1 })
  @IsNumber({ allowNaN: false, allowInfinity: false }, { message: 'must be a number from 0.25 to 4' })
  @InRange(0.25, 4)
  speed = 1;

  @ApiPropertyOptional({
    enum: STREAM_FORMATS,
    default: 'audio',
    description:
      '`audio`: the bytes, chunked as they are made; `sse`: `speech.audio.delta` and `speech.audio.done` events.',
  })
  @OneOf(STREAM_FORMATS)
  stream_format: (typeof STREAM_FORMATS)[number] = 'audio';

  @ServiceTierField()
  service_tier: ServiceTier = 'auto';
}

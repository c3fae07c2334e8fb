import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsNotEmpty, IsNumber, IsOptional, IsString } from 'class-validator';
import { TRANSCRIPT_FORMATS, type TranscriptFormat } from '../formats/transcript-body.js';
import { type ServiceTier } from './field-rules.js';
import { BooleanFromForm, InRange, NumberFromForm, OneOf, ServiceTierField } from './field.decorators.js';

/** Fields of `POST /v1/audio/translations`, and what transcriptions share with it. */
export class TranslationDto {
  @ApiPropertyOptional({
    type: 'string',
    format: 'binary',
    description:
      'The audio: flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, up to `server.upload_limit_bytes`. ' +
      'Required unless `file_url` is given.',
  })
  file?: unknown;

  @ApiPropertyOptional({
    type: 'string',
    format: 'uri',
    description:
      'Instead of `file`: http or https, fetched by the worker. Only public addresses and ports 80 and 443, unless ' +
      '`fetch.allow_hosts` says more; at most 5 redirects, `fetch.timeout_ms` and `server.upload_limit_bytes`.',
  })
  file_url?: unknown;

  @ApiProperty({ example: 'whisper-1', description: 'A model id or alias; see `GET /v1/models`.' })
  @IsString({ message: 'must be the name of a model' })
  @IsNotEmpty({ message: 'must be the name of a model' })
  model!: string;

  @ApiPropertyOptional({
    type: String,
    description: 'Text that precedes the audio. Ignored by models that cannot use it.',
  })
  @IsOptional()
  @IsString({ message: 'must be text' })
  prompt = '';

  @ApiPropertyOptional({ enum: TRANSCRIPT_FORMATS, default: 'json' })
  @OneOf(TRANSCRIPT_FORMATS)
  response_format: TranscriptFormat = 'json';

  @ApiPropertyOptional({
    type: Number,
    minimum: 0,
    maximum: 1,
    default: 0,
    description: 'Above 0 it is ignored by models that have no sampling.',
  })
  @NumberFromForm()
  @IsNumber({ allowNaN: false, allowInfinity: false }, { message: 'must be a number from 0 to 1' })
  @InRange(0, 1)
  temperature = 0;

  @ApiPropertyOptional({
    type: Boolean,
    description:
      'Written form: `twenty five percent` becomes `25%`, in text and segments; words keep the spoken form. English ' +
      'only. The default is the `itn` of the model in `config/models.yaml` (false).',
  })
  @BooleanFromForm()
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  itn?: boolean;

  @ServiceTierField()
  service_tier: ServiceTier = 'auto';
}

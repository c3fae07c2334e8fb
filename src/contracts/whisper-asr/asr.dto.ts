import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsOptional, IsString } from 'class-validator';
import { BooleanFromForm, LanguageFromForm, LanguageTag, OneOf } from '../openai/field.decorators.js';

export const ASR_OUTPUTS = ['txt', 'vtt', 'srt', 'tsv', 'json'] as const;
export type AsrOutput = (typeof ASR_OUTPUTS)[number];

const FLAG = { message: 'must be true or false' };

/** The form of whisper-asr-webservice. */
export class AsrFormDto {
  @ApiProperty({ type: 'string', format: 'binary', description: 'The audio, up to `server.upload_limit_bytes`.' })
  audio_file!: unknown;
}

/** Query of `POST /detect-language`. */
export class DetectLanguageQueryDto {
  @ApiPropertyOptional({
    type: Boolean,
    default: true,
    description: '`false`: the audio is headerless 16 kHz mono s16le, unless it begins as a WAV file does.',
  })
  @BooleanFromForm()
  @IsBoolean(FLAG)
  encode = true;

  @ApiPropertyOptional({ type: String, description: 'Ours: default `compat.asr_model`.' })
  @IsOptional()
  @IsString({ message: 'must be the name of a model' })
  model?: string;
}

/** Query of `POST /asr`. */
export class AsrQueryDto extends DetectLanguageQueryDto {
  @ApiPropertyOptional({ enum: ['transcribe', 'translate'], default: 'transcribe' })
  @OneOf(['transcribe', 'translate'])
  task: 'transcribe' | 'translate' = 'transcribe';

  @ApiPropertyOptional({ type: String, description: 'A tag or an English name; absent: the model detects it.' })
  @LanguageFromForm()
  @IsOptional()
  @IsString({ message: 'must be a tag such as en' })
  @LanguageTag()
  language?: string;

  @ApiPropertyOptional({ type: String, description: 'Text that precedes the audio.' })
  @IsOptional()
  @IsString({ message: 'must be text' })
  initial_prompt = '';

  @ApiPropertyOptional({ type: Boolean, default: false, description: 'Has no effect.' })
  @BooleanFromForm()
  @IsBoolean(FLAG)
  vad_filter = false;

  @ApiPropertyOptional({ type: Boolean, default: false, description: 'With `output=json`.' })
  @BooleanFromForm()
  @IsBoolean(FLAG)
  word_timestamps = false;

  @ApiPropertyOptional({ enum: ASR_OUTPUTS, default: 'txt' })
  @OneOf(ASR_OUTPUTS)
  output: AsrOutput = 'txt';
}

/** Answer of `POST /detect-language`. */
export class DetectedLanguageDto {
  @ApiProperty({ example: 'english' }) detected_language!: string;
  @ApiProperty({ example: 'en' }) language_code!: string;
  @ApiProperty({ type: Number, nullable: true, description: 'Always null: engines do not tell it.' }) confidence!: null;
}

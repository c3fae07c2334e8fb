import { ApiProperty } from '@nestjs/swagger';
import { anyText, fromForm, honoured, trueOrFalse } from '../openai/field-types.js';
import { Field } from '../openai/field.decorators.js';

/** Query of `POST /detect-language`. */
export class DetectLanguageQueryDto {
  @Field(fromForm(trueOrFalse()), {
    default: true,
    description:
      '`false`: the audio is headerless 16 kHz mono s16le, unless it begins as a WAV file does.',
    rule: honoured('`false`: headerless 16 kHz mono s16le, or a WAV file.'),
  })
  encode = true;

  @Field(anyText('must be the name of a model'), {
    description: 'Ours: default `compat.asr_model`.',
    rule: honoured('Ours. Absent: `compat.asr_model`.'),
  })
  model?: string;
}

/** Answer of `POST /detect-language`. */
export class DetectedLanguageDto {
  @ApiProperty({ example: 'english' }) detected_language!: string;
  @ApiProperty({ example: 'en' }) language_code!: string;
  @ApiProperty({
    type: Number,
    nullable: true,
    description: 'Always null: engines do not tell it.',
  })
  confidence!: null;
}

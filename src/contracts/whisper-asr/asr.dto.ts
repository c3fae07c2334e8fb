import { ApiProperty } from '@nestjs/swagger';
import {
  anything,
  choiceOf,
  trueOrFalse,
  fromForm,
  language,
  anyText,
  advice,
  honoured,
  ignored,
  meaning,
} from '../openai/field-types.js';
import { Field, RequiredField } from '../openai/field.decorators.js';

const ASR_OUTPUTS = ['txt', 'vtt', 'srt', 'tsv', 'json'] as const;

/** The form of whisper-asr-webservice. */
export class AsrFormDto {
  @RequiredField(anything({ type: 'string', format: 'binary' }), {
    description: 'The audio, up to `server.upload_limit_bytes`.',
  })
  audio_file!: unknown;
}

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

/** Query of `POST /asr`. */
export class AsrQueryDto extends DetectLanguageQueryDto {
  @Field(choiceOf(['transcribe', 'translate']), { default: 'transcribe' })
  task: 'transcribe' | 'translate' = 'transcribe';

  @Field(language(), {
    description: 'A tag or an English name; absent: the model detects it.',
    rule: honoured('A tag or an English name; refused if the model does not recognise it.'),
  })
  language?: string;

  @Field(anyText(), {
    description: 'Text that precedes the audio.',
    rule: advice('prompt', 'Some recognisers take no text before the audio.'),
  })
  initial_prompt = '';

  @Field(fromForm(trueOrFalse()), {
    default: false,
    description: 'Has no effect.',
    rule: ignored('speech is found by the worker, with or without it'),
  })
  vad_filter = false;

  @Field(fromForm(trueOrFalse()), {
    default: false,
    description: 'With `output=json`.',
    rule: meaning('word_timestamps', 'Ignored with notice unless `output` is `json`.'),
  })
  word_timestamps = false;

  @Field(choiceOf(ASR_OUTPUTS), { default: 'txt' })
  output: (typeof ASR_OUTPUTS)[number] = 'txt';
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

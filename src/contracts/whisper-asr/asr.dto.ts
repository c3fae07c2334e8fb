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
import { DetectLanguageQueryDto } from './detect-language.dto.js';

const ASR_OUTPUTS = ['txt', 'vtt', 'srt', 'tsv', 'json'] as const;

/** The form of whisper-asr-webservice. */
export class AsrFormDto {
  @RequiredField(anything({ type: 'string', format: 'binary' }), {
    description: 'The audio, up to `server.upload_limit_bytes`.',
  })
  audio_file!: unknown;
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

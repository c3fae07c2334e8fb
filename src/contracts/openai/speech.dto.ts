import { SPEECH_FORMATS, type SpeechFormat } from '@switchyard/worker-protocol/speech-format.js';
import {
  choiceOf,
  filledText,
  number,
  textWithin,
  advice,
  honoured,
  meaning,
  type ServiceTier,
} from './field-types.js';
import { Field, ModelNameField, RequiredField, ServiceTierField } from './field.decorators.js';

const SPEECH_INPUT_LIMIT = 4096;

const STREAM_FORMATS = ['audio', 'sse'] as const;

const isSaid = (value: unknown): boolean => /\S/.test(value as string);

/** `{"id": "x"}` is OpenAI's newer spelling of `"x"`. */
const idOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'id' in value ? value.id : value;

/**
 * Fields of `POST /v1/audio/speech`. Unknown ones are accepted and reported, as newer
 * clients send them.
 */
export class SpeechDto {
  @ModelNameField('tts-1')
  model!: string;

  @RequiredField(
    textWithin(SPEECH_INPUT_LIMIT, [isSaid, 'must hold something to say, not only spaces']),
    {
      example: 'The quick brown fox jumps over the lazy dog.',
      description:
        'Plain text. Of SSML (`<speak>…</speak>`) only the text is spoken, and `input.ssml` is reported as ignored; ' +
        'a server behind the gateway gets it unchanged.',
      minLength: 1,
      maxLength: SPEECH_INPUT_LIMIT,
    },
  )
  input!: string;

  @RequiredField(
    { ...filledText('must be a voice name, or an object {"id": name}'), shape: idOf },
    {
      example: 'alloy',
      description: 'A voice of the model, by name, in any case of letters, or as `{"id": name}`.',
      rule: honoured('In any case of letters; refused if the model has no such voice.'),
    },
  )
  voice!: string;

  @Field(textWithin(SPEECH_INPUT_LIMIT), {
    description: 'Ignored by models that cannot follow them.',
    rule: advice('instructions', 'Some synthesisers cannot follow them.'),
  })
  instructions = '';

  @Field(choiceOf(SPEECH_FORMATS), {
    default: 'mp3',
    description: 'pcm is 24 kHz mono s16le.',
  })
  response_format: SpeechFormat = 'mp3';

  @Field(number(0.25, 4), { default: 1, rule: meaning('speed', '1 always passes.') })
  speed = 1;

  @Field(choiceOf(STREAM_FORMATS), {
    default: 'audio',
    description:
      '`audio`: the bytes, chunked as they are made; `sse`: `speech.audio.delta` and `speech.audio.done` events.',
  })
  stream_format: (typeof STREAM_FORMATS)[number] = 'audio';

  @ServiceTierField()
  service_tier: ServiceTier = 'auto';
}

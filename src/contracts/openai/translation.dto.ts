import { TRANSCRIPT_FORMATS, type TranscriptFormat } from '../formats/transcript-body.js';
import {
  anything,
  choiceOf,
  trueOrFalse,
  fromForm,
  number,
  anyText,
  advice,
  honoured,
  meaning,
  type ServiceTier,
} from './field-types.js';
import { Field, ModelNameField, ServiceTierField } from './field.decorators.js';

/** Fields of `POST /v1/audio/translations`, and what transcriptions share with it. */
export class TranslationDto {
  @Field(anything({ type: 'string', format: 'binary' }), {
    description:
      'The audio: flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, up to `server.upload_limit_bytes`. ' +
      'Required unless `file_url` is given.',
    rule: honoured('Or `file_url`.'),
  })
  file?: unknown;

  @Field(anything({ type: 'string', format: 'uri' }), {
    description:
      'Instead of `file`: http or https, fetched by the worker. Only public addresses and ports 80 and 443, unless ' +
      '`fetch.allow_hosts` says more; at most 5 redirects, `fetch.timeout_ms` and `server.upload_limit_bytes`.',
    rule: honoured('Ours.'),
  })
  file_url?: unknown;

  @ModelNameField('whisper-1')
  model!: string;

  @Field(anyText(), {
    description: 'Text that precedes the audio. Ignored by models that cannot use it.',
    rule: advice('prompt', 'Some recognisers take no text before the audio.'),
  })
  prompt = '';

  @Field(choiceOf(TRANSCRIPT_FORMATS), {
    default: 'json',
    rule: meaning('diarize', '`diarized_json` alone needs the capability.', 'diarized_json'),
  })
  response_format: TranscriptFormat = 'json';

  @Field(fromForm(number(0, 1)), {
    default: 0,
    description: 'Above 0 it is ignored by models that have no sampling.',
    rule: advice('temperature', 'Greedy recognisers have no sampling; 0 always passes.'),
  })
  temperature = 0;

  @Field(fromForm(trueOrFalse()), {
    description:
      'Written form: `twenty five percent` becomes `25%`, in text and segments; words keep the spoken form. English ' +
      'only. The default is the `itn` of the model in `config/models.yaml` (false).',
    rule: honoured('Ours. Refused where the language has no written form.'),
  })
  itn?: boolean;

  @ServiceTierField()
  service_tier: ServiceTier = 'auto';
}

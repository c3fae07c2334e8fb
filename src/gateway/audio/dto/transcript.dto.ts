import {
  numberField,
  objectField,
  optionalField,
  textField,
  answer,
} from '../../http/openapi/answer.js';

class DurationUsageDto extends answer({
  type: objectField('duration'),
  seconds: numberField({ example: 4, description: 'Seconds of audio, rounded up.' }),
}) {}

/**
 * `response_format: json`; documentation only, the body is written by
 * `formats/transcript-body.ts`.
 */
export class TranscriptDto extends answer({
  text: textField({ example: 'the quick brown fox jumps over the lazy dog' }),
  usage: optionalField(DurationUsageDto),
}) {}

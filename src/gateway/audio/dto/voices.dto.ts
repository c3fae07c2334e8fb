import { textField, answer, listField } from '../../http/openapi/answer.js';

class VoiceDto extends answer({
  id: textField({
    example: 'alloy',
    description: 'What `voice` of `POST /v1/audio/speech` may be.',
  }),
  name: textField({ example: 'alloy' }),
  model: textField({
    example: 'piper-en-joe',
    description: 'Id of the model that has it.',
  }),
}) {}

/**
 * Answer of `GET /v1/audio/voices`. OpenAI has no such route; the shape is the one that
 * Open WebUI reads.
 */
export class VoiceListDto extends answer({ voices: listField(VoiceDto) }) {}

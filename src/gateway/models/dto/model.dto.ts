import {
  choiceField,
  listField,
  numberField,
  objectField,
  textField,
  answer,
} from '../../http/openapi/answer.js';

/**
 * One entry of `GET /v1/models`: a model, or an alias of one (then `root`
 * differs from `id`).
 */
export class ModelDto extends answer({
  id: textField({ example: 'whisper-1' }),
  object: objectField('model'),
  created: numberField({
    example: 1763683200,
    description: 'Unix seconds at which this gateway started.',
  }),
  owned_by: objectField('switchyard'),
  root: textField({
    example: 'moonshine-tiny-en',
    description: 'The canonical id, which labels metrics and logs.',
  }),
  kind: choiceField(['stt', 'tts', 'llm', 'embedding']),
  capabilities: listField(String, { example: ['transcribe', 'word_timestamps'] }),
  languages: listField(String, { example: ['en'], description: 'BCP-47; empty: any.' }),
  state: choiceField(
    ['unloaded', 'loading', 'loaded', 'unloading', 'failed'],
    'unloaded: its workers are stopped; most often the next request starts them and waits.',
  ),
  voices: listField(String, { example: [], description: 'Voice names of a TTS model.' }),
}) {}

export class ModelListDto extends answer({
  object: objectField('list'),
  data: listField(ModelDto),
}) {}

import { SWAP_REASONS } from '../../../core/devices/swap-policy.port.js';
import {
  choiceField,
  listField,
  nullableField,
  numberField,
  optionalField,
  textField,
  answer,
} from '../../http/openapi/answer.js';

const STAGES = ['loading', 'resident', 'leaving'] as const;

class DeviceModelDto extends answer({
  id: textField({ example: 'qwen3-8b' }),
  stage: nullableField(choiceField(STAGES, 'Null: it is not on this device.')),
  memory_bytes: Number,
  waiting: numberField('Requests and sessions that wait for it.'),
  running: numberField('Requests and sessions that it has.'),
  awaited: optionalField(textField('What these wait for, while it is not loaded.')),
}) {}

class DeviceSpanDto extends answer({
  model: textField({ example: 'qwen3-8b' }),
  stage: choiceField(STAGES),
  from: numberField('Unix seconds, with fractions.'),
  to: nullableField(numberField('Null: until now.')),
}) {}

class NextSwapDto extends answer({
  model: textField({ example: 'whisper-large-v3' }),
  reason: choiceField(SWAP_REASONS, 'Why it is next.'),
  leaving: listField(String, 'Models that leave for it, or leave already.'),
  in_s: nullableField(
    numberField('Seconds until these are told to leave. Null: not before other requests are sent.'),
  ),
  explanation: textField('The same in words.'),
}) {}

class DeviceDto extends answer({
  id: textField({ example: 'gpu0' }),
  memory_bytes: numberField('That its models share.'),
  used_bytes: numberField('Of models that are loaded, loading or leaving.'),
  loaded_by: optionalField(
    textField({
      example: 'gw_0198a1b2',
      description: 'Another gateway, which loads its models and knows what is on it.',
    }),
  ),
  models: listField(DeviceModelDto),
  next: optionalField(NextSwapDto),
  history: listField(DeviceSpanDto, 'The last 15 minutes, oldest first.'),
}) {}

export class DevicesDto extends answer({ data: listField(DeviceDto) }) {}

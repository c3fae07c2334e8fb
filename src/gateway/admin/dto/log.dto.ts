import { LOG_LEVELS } from '../../../platform/logging/log-ring.js';
import {
  choiceField,
  listAnswer,
  numberField,
  textField,
  answer,
} from '../../http/openapi/answer.js';

class LogLineDto extends answer({
  at: numberField({
    description: 'Unix seconds, with milliseconds.',
    example: 1767225600.123,
  }),
  level: choiceField(LOG_LEVELS),
  text: textField('Message, then further fields as JSON; at most 2048 characters.'),
}) {}

export class LogDto extends listAnswer(LogLineDto) {}

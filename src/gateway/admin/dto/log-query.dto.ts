import { choiceOf, fromForm, whole } from '../../../contracts/openai/field-types.js';
import { Field } from '../../../contracts/openai/field.decorators.js';
import { LOG_LEVELS, type LogLevel } from '../../../platform/logging/log-ring.js';
import { Strict } from '../../http/dto-validation.js';

const MAX_LINES = 2000;

@Strict()
export class LogQueryDto {
  @Field(fromForm(whole(1, MAX_LINES)), {
    type: undefined,
    default: 200,
    description: 'The newest ones, oldest first.',
  })
  lines = 200;

  @Field(choiceOf(LOG_LEVELS), {
    description: 'At least this level; absent: all that is logged.',
  })
  level: LogLevel = 'trace';
}

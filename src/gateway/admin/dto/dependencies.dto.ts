import { DEPENDENCIES } from '../../../platform/dependencies/dependency-monitor.js';
import {
  choiceField,
  listField,
  optionalField,
  textField,
  answer,
} from '../../http/openapi/answer.js';

class DependencyDto extends answer({
  name: choiceField(DEPENDENCIES),
  status: choiceField(['up', 'down', 'unknown']),
  since: textField('Since when, ISO 8601.'),
  checked_at: optionalField(textField('End of the last probe, ISO 8601.')),
  error: optionalField(textField('Why it is down.')),
}) {}

export class DependenciesDto extends answer({
  data: listField(DependencyDto),
}) {}

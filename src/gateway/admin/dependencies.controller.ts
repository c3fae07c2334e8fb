import { Controller, Get } from '@nestjs/common';
import { fullErrorMessage } from '@switchyard/engine-api/error-message.js';
import { DEPENDENCIES, DependencyMonitor } from '../../platform/dependencies/dependency-monitor.js';
import {
  choiceField,
  listField,
  optionalField,
  textField,
  answer,
} from '../http/openapi/answer.js';
import { Answers } from '../http/openapi/route.decorator.js';

class DependencyDto extends answer({
  name: choiceField(DEPENDENCIES),
  status: choiceField(['up', 'down', 'unknown']),
  since: textField('Since when, ISO 8601.'),
  checked_at: optionalField(textField('End of the last probe, ISO 8601.')),
  error: optionalField(textField('Why it is down.')),
}) {}

class DependenciesDto extends answer({
  data: listField(DependencyDto),
}) {}

/** What this gateway depends on. */
@Controller('admin/v1/dependencies')
export class AdminDependenciesController {
  constructor(private readonly monitor: DependencyMonitor) {}

  @Get()
  @Answers(DependenciesDto)
  dependencies() {
    const data = this.monitor.states().map(([name, { status, sinceMs, checkedMs, error }]) => ({
      name,
      status,
      since: new Date(sinceMs).toISOString(),
      checked_at: checkedMs === undefined ? undefined : new Date(checkedMs).toISOString(),
      error: error && fullErrorMessage(error),
    }));
    return { data };
  }
}

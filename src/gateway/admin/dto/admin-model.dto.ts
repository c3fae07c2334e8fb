import { AUTOSTARTS } from '../../../platform/config/model-spec.js';
import {
  choiceField,
  flagField,
  listField,
  numberField,
  optionalField,
  textField,
  unixSeconds,
  answer,
} from '../../http/openapi/answer.js';
import { MODEL_STATES, type ModelView } from '../../worker-pool/worker-view.js';
import { WorkerDto, workerDto } from './worker.dto.js';

export class AdminModelDto extends answer({
  id: textField({ example: 'moonshine-tiny-en' }),
  state: choiceField(
    MODEL_STATES,
    'failed: each worker has ended, cannot be reached or is drained.',
  ),
  reason: optionalField(textField('Why it has failed.')),
  autostart: choiceField(AUTOSTARTS),
  starts_on_request: flagField('While it is unloaded, the next request starts it.'),
  idle_unload_s: optionalField(numberField('Seconds without work until it is unloaded.')),
  running: numberField('Requests and live streams that its workers have now.'),
  last_used: numberField('Unix seconds at which it was last needed, or made ready to be.'),
  workers: listField(WorkerDto),
}) {}

export class AdminModelListDto extends answer({ data: listField(AdminModelDto) }) {}

export const adminModelDto = (model: ModelView): AdminModelDto => ({
  id: model.id,
  state: model.state,
  reason: model.reason,
  autostart: model.autostart,
  starts_on_request: model.startsOnRequest,
  idle_unload_s: model.idleUnloadS,
  running: model.running,
  last_used: unixSeconds(Date.now() - model.idleMs),
  workers: model.workers.map(workerDto),
});

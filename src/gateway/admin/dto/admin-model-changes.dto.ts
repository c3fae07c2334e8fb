import { listField, answer } from '../../http/openapi/answer.js';

export class AdminModelChangesDto extends answer({
  added: listField(String),
  changed: listField(String, 'Computed by new workers once the old ones have ended their work.'),
  removed: listField(String),
}) {}

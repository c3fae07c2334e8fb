import { flagField, answer } from '../../http/openapi/answer.js';

export class EndedSessionDto extends answer({
  session_id: String,
  ended: flagField('False: there is no such session on this gateway.'),
}) {}

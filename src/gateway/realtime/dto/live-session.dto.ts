import {
  choiceField,
  flagField,
  listField,
  numberField,
  textField,
  answer,
} from '../../http/openapi/answer.js';
import { type RealtimeSession } from '../realtime-session.js';

class LiveSessionDto extends answer({
  id: textField({ example: 'sess_0a1b2c3d4e5f60718293a4b5' }),
  tenant: String,
  model: textField('As the client named it.'),
  state: choiceField(
    ['attached', 'detached'],
    'detached: its connection was lost; it can be resumed.',
  ),
  streaming: flagField('True while it holds a streaming slot.'),
  started_at: numberField('Unix seconds.'),
  audio_seconds: numberField('Audio received so far.'),
}) {}

export class LiveSessionListDto extends answer({
  data: listField(LiveSessionDto),
}) {}

export const liveSessionDto = (session: RealtimeSession): LiveSessionDto => ({
  id: session.id,
  tenant: session.owner.tenant,
  model: session.config.model,
  state: session.connection.detachedAtMs === undefined ? 'attached' : 'detached',
  streaming: session.live,
  started_at: session.startedAt,
  audio_seconds: session.receivedMs / 1000,
});

import { Controller, Post, Get, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { CLOSE } from '../../contracts/realtime/realtime-event.js';
import {
  choiceField,
  flagField,
  listField,
  numberField,
  textField,
  answer,
} from '../http/openapi/answer.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { type RealtimeSession } from './realtime-session.js';
import { RealtimeSessions } from './realtime-sessions.js';

/** For the last words of a session that an operator ends. */
const FLUSH_MS = 2000;

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

class LiveSessionListDto extends answer({
  data: listField(LiveSessionDto),
}) {}

class EndedSessionDto extends answer({
  session_id: String,
  ended: flagField('False: there is no such session on this gateway.'),
}) {}

/** The live sessions of this gateway. */
@Controller('admin/v1/sessions')
export class AdminSessionsController {
  constructor(private readonly sessions: RealtimeSessions) {}

  @Get()
  @Answers(LiveSessionListDto)
  list() {
    return { data: this.sessions.all().map(liveSessionDto) };
  }

  @Post(':id/end')
  @ApiOperation({ description: 'Its last words are finished; it closes with 1008.' })
  @Answers(EndedSessionDto)
  async end(@Param('id') id: string) {
    const session = this.sessions.all().find(one => one.id === id);
    await session?.leave(CLOSE.policyViolation, 'ended by an operator', FLUSH_MS);
    return { session_id: id, ended: session !== undefined };
  }
}

const liveSessionDto = (session: RealtimeSession): LiveSessionDto => ({
  id: session.id,
  tenant: session.owner.tenant,
  model: session.config.model,
  state: session.detachedAtMs === undefined ? 'attached' : 'detached',
  streaming: session.live,
  started_at: session.startedAt,
  audio_seconds: session.receivedMs / 1000,
});

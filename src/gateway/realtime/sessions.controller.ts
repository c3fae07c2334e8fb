import { Post, Get, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { CLOSE } from '../../contracts/realtime/realtime-event.js';
import { AdminController } from '../http/admin-controller.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { EndedSessionDto } from './dto/ended-session.dto.js';
import { LiveSessionListDto, liveSessionDto } from './dto/live-session.dto.js';
import { RealtimeSessions } from './realtime-sessions.js';

/** For the last words of a session that an operator ends. */
const FLUSH_MS = 2000;

/** The live sessions of this gateway. */
@AdminController('sessions')
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

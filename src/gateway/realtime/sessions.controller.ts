import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { CLOSE } from '../../contracts/realtime/close-code.js';
import { RealtimeSessions } from './realtime-sessions.js';
import { type RealtimeSession } from './realtime-session.js';

/** For the last words of a session that an operator ends. */
const FLUSH_MS = 2000;

export class LiveSessionDto {
  @ApiProperty({ example: 'sess_0a1b2c3d4e5f60718293a4b5' }) id!: string;
  @ApiProperty() tenant!: string;
  @ApiProperty({ description: 'As the client named it.' }) model!: string;
  @ApiProperty({ enum: ['attached', 'detached'], description: 'detached: its connection was lost; it can be resumed.' })
  state!: string;
  @ApiProperty({ description: 'True while it holds a streaming slot.' }) streaming!: boolean;
  @ApiProperty({ description: 'Unix seconds.' }) started_at!: number;
  @ApiProperty({ description: 'Audio received so far.' }) audio_seconds!: number;
}

export class LiveSessionListDto {
  @ApiProperty({ type: [LiveSessionDto] }) data!: LiveSessionDto[];
}

export class EndedSessionDto {
  @ApiProperty() session_id!: string;
  @ApiProperty({ description: 'False: there is no such session on this gateway.' }) ended!: boolean;
}

/** The live sessions of this gateway. */
@ApiTags('admin')
@Controller('admin/v1/sessions')
export class AdminSessionsController {
  constructor(private readonly sessions: RealtimeSessions) {}

  @Get()
  @ApiOperation({ summary: 'Live sessions of this gateway' })
  @ApiOkResponse({ type: LiveSessionListDto })
  list(): LiveSessionListDto {
    return { data: this.sessions.all().map(liveSessionDto) };
  }

  @Post(':id/end')
  @HttpCode(200)
  @ApiOperation({ summary: 'End a live session', description: 'Its last words are finished; it closes with 1008.' })
  @ApiOkResponse({ type: EndedSessionDto })
  async end(@Param('id') id: string): Promise<EndedSessionDto> {
    const session = this.sessions.all().find(one => one.id === id);
    await session?.leave(CLOSE.policyViolation, 'ended by an operator', { flushMs: FLUSH_MS });
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
  audio_seconds: session.input.receivedMs / 1000,
});

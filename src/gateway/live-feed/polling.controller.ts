import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { LIVE_NAMESPACE } from '../../contracts/events/live-event.js';

const message =
  'The live feed is served over WebSockets only: connect with `transports: ["websocket"]`.';
const refusal = writeJson({ message });

/**
 * Engine.IO packet 0 (open), then Socket.IO packet 4 in Engine.IO packet 4:
 * CONNECT_ERROR, of either namespace.
 */
const PAYLOAD = [
  `0${writeJson({ sid: 'none', upgrades: [], pingInterval: 25_000, pingTimeout: 20_000, maxPayload: 1000 })}`,
  `44${LIVE_NAMESPACE},${refusal}`,
  `44${refusal}`,
].join('\u001e');

/**
 * Socket.IO clients begin with long polling by default. It would need sticky sessions in
 * front of several gateways, so it is not served; the answer makes the client raise
 * `connect_error` with the reason instead of "xhr poll error".
 */
@Controller('events')
export class PollingController {
  @Get()
  @Header('content-type', 'text/plain; charset=utf-8')
  @ApiOkResponse({
    description: 'To a client that polls: the reason why it is not connected.',
  })
  refuse(): string {
    return PAYLOAD;
  }
}

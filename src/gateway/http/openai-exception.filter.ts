import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type DomainError } from '../../core/shared/domain-error.js';
import { sendError } from './error-reply.js';
import { toDomainError } from './http-error.js';

/** The one place where errors become HTTP. Every route, also the unknown ones, ends here. */
@Catch()
export class OpenAiExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger(OpenAiExceptionFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const error = toDomainError(thrown, { method: request.method, url: request.url });
    this.log(error);
    if (reply.raw.headersSent) {
      // The status is out already: a cut connection is the only honest way left to say that the answer is not whole.
      reply.raw.destroy();
      return;
    }
    sendError(error, request, reply);
  }

  /** Callers' mistakes are theirs to read. The line carries the request id: the logger knows which request it is in. */
  private log(error: DomainError): void {
    const { code, message, cause, definition } = error;
    if (code === 'internal_error') this.logger.error({ code, err: cause ?? error }, 'the request failed by a defect');
    else if (definition.status >= 500) this.logger.warn({ code, reason: message }, 'the request failed');
  }
}

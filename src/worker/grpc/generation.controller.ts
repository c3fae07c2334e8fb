import { once } from 'node:events';
import { type ServerWritableStream } from '@grpc/grpc-js';
import { Controller } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import { from, ignoreElements, type Observable } from 'rxjs';
import {
  decodeGenerateCall,
  type GenerateCallFields,
  type GenerateRequest,
  type GenerateResponse,
} from '../../contracts/grpc/generation.codec.js';
import { abortError } from '../../core/errors/abort-error.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { GenerationService } from '../generation/generation.service.js';
import { HealthReporter } from '../execution/health-reporter.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { serviceController } from './service-controller.js';

/**
 * Writes a stream of answers at the pace of its reader: only HTTP/2's window is buffered.
 * Nest would buffer an Observable without bound for a reader that stopped.
 */
class PacedWriter<Message> {
  constructor(
    private readonly call: ServerWritableStream<unknown, Message>,
    private readonly signal: AbortSignal,
  ) {}

  /** Resolves when there is room for more. @throws the abort's error. */
  async write(message: Message): Promise<void> {
    const { call, signal } = this;
    if (signal.aborted) throw abortError(signal);
    if (call.write(message)) return;
    try {
      await once(call, 'drain', { signal });
    } catch (error) {
      throw signal.aborted ? abortError(signal) : error;
    }
  }
}

/** `switchyard.v1.TextGeneration` of a worker whose kind is llm. */
@Controller()
export class GenerationController extends serviceController('TextGeneration') {
  constructor(
    calls: InFlightCalls,
    health: HealthReporter,
    private readonly generation: GenerationService,
  ) {
    super(calls, health);
  }

  /** Writes by itself; Nest receives only the end. */
  @GrpcMethod('TextGeneration', 'Generate')
  generate(
    message: GenerateRequest,
    _metadata: unknown,
    call: ServerWritableStream<GenerateRequest, GenerateResponse>,
  ): Observable<never> {
    const running = this.calls.run(message.requestId, call, signal => {
      const writer = new PacedWriter(call, signal);
      return this.generation.generate(decoded(message), signal, answer =>
        writer.write({ message: answer }),
      );
    });
    // A disconnected caller unsubscribes; the rejection must not go unhandled.
    running.catch(() => undefined);
    return from(running).pipe(ignoreElements());
  }
}

function decoded(message: GenerateRequest): GenerateCallFields {
  try {
    return decodeGenerateCall(message);
  } catch (error) {
    throw new DomainError('invalid_value', (error as Error).message, { param: 'form' });
  }
}

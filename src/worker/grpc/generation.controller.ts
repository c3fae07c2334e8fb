import { type ServerWritableStream } from '@grpc/grpc-js';
import { Controller } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import { attemptOf } from '@switchyard/worker-protocol/call.codec.js';
import {
  decodeGenerateCall,
  type GenerateRequest,
  type GenerateResponse,
} from '@switchyard/worker-protocol/generation.codec.js';
import { from, ignoreElements, type Observable } from 'rxjs';
import { HealthReporter } from '../execution/health-reporter.js';
import { GenerationService } from '../generation/generation.service.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { writePaced } from './call-conversation.js';
import { serviceController } from './service-controller.js';

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

  /**
   * Writes by itself, and Nest receives only the end: it would buffer an Observable without
   * bound for a reader that stopped.
   */
  @GrpcMethod('TextGeneration', 'Generate')
  generate(
    message: GenerateRequest,
    _metadata: unknown,
    call: ServerWritableStream<GenerateRequest, GenerateResponse>,
  ): Observable<never> {
    const running = this.calls.run(attemptOf(message), call, signal =>
      this.generation.generate(decodeGenerateCall(message), signal, answer =>
        writePaced(call, { message: answer }, signal),
      ),
    );
    // A disconnected caller unsubscribes; the rejection must not go unhandled.
    running.catch(() => undefined);
    return from(running).pipe(ignoreElements());
  }
}

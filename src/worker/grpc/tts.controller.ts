import { type Metadata, type ServerWritableStream } from '@grpc/grpc-js';
import { Controller } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import { Observable } from 'rxjs';
import { traceOfCall } from '../../contracts/grpc/call.codec.js';
import {
  decodeSynthesizeCall,
  type SynthesizeCallFields,
  type SynthesizeRequest,
  type SynthesizeResponse,
} from '../../contracts/grpc/tts.codec.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { SynthesisService } from '../execution/synthesis.service.js';
import { HealthReporter } from '../execution/health-reporter.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { serviceController } from './service-controller.js';

/** `switchyard.v1.TextToSpeech`. */
@Controller()
export class TtsController extends serviceController('TextToSpeech') {
  constructor(
    calls: InFlightCalls,
    health: HealthReporter,
    private readonly synthesis: SynthesisService,
  ) {
    super(calls, health);
  }

  /** Nest writes what the Observable emits, buffering for a slow reader. */
  @GrpcMethod('TextToSpeech', 'Synthesize')
  synthesize(
    message: SynthesizeRequest,
    metadata: Metadata,
    call: ServerWritableStream<SynthesizeRequest, SynthesizeResponse>,
  ): Observable<SynthesizeResponse> {
    return new Observable(subscriber => {
      this.calls
        .run(message.requestId, call, signal =>
          this.synthesis.synthesize(
            { ...decoded(message), ...traceOfCall(metadata) },
            signal,
            part => subscriber.next({ message: part }),
          ),
        )
        .then(
          () => subscriber.complete(),
          (error: unknown) => subscriber.error(error),
        );
    });
  }
}

function decoded(message: SynthesizeRequest): SynthesizeCallFields {
  if (message.text.trim() === '') throw invalid('text', 'The text is empty.');
  if (!(message.speed >= 0.25 && message.speed <= 4))
    throw invalid('speed', `speed is 0.25 to 4, not ${message.speed}.`);
  try {
    return decodeSynthesizeCall(message);
  } catch (error) {
    throw invalid('format', (error as Error).message);
  }
}

const invalid = (param: string, message: string): DomainError =>
  new DomainError('invalid_value', message, { param });

import { type Metadata, type ServerWritableStream } from '@grpc/grpc-js';
import { Controller } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import { attemptOf, encodeExecution, traceOfCall } from '@switchyard/worker-protocol/call.codec.js';
import {
  decodeSynthesizeCall,
  type SpeechMessage,
  type SynthesizeRequest,
  type SynthesizeResponse,
} from '@switchyard/worker-protocol/tts.codec.js';
import { Observable } from 'rxjs';
import { HealthReporter } from '../execution/health-reporter.js';
import { type SpeechReceiver, SynthesisService } from '../execution/synthesis.service.js';
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
      const send = (part: SpeechMessage): void => subscriber.next({ message: part });
      const receiver: SpeechReceiver = {
        header: value => send({ $case: 'header', value }),
        audio: value => send({ $case: 'audio', value }),
      };
      this.calls
        .run(attemptOf(message), call, async signal => {
          const { execution, ...spoken } = await this.synthesis.synthesize(
            { ...decodeSynthesizeCall(message), ...traceOfCall(metadata) },
            signal,
            receiver,
          );
          const done = { ...spoken, execution: encodeExecution(execution) };
          send({ $case: 'done', value: done });
        })
        .then(
          () => subscriber.complete(),
          (error: unknown) => subscriber.error(error),
        );
    });
  }
}

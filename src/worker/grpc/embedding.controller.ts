import { type ServerUnaryCall } from '@grpc/grpc-js';
import { Controller } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import { attemptOf } from '@switchyard/worker-protocol/call.codec.js';
import {
  decodeEmbedCall,
  encodeEmbedded,
  type EmbedRequest,
  type EmbedResponse,
} from '@switchyard/worker-protocol/generation.codec.js';
import { EmbeddingService } from '../execution/embedding.service.js';
import { HealthReporter } from '../execution/health-reporter.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { serviceController } from './service-controller.js';

/** `switchyard.v1.TextGeneration` of a worker whose kind is embedding. */
@Controller()
export class EmbeddingController extends serviceController('TextGeneration') {
  constructor(
    calls: InFlightCalls,
    health: HealthReporter,
    private readonly embedding: EmbeddingService,
  ) {
    super(calls, health);
  }

  @GrpcMethod('TextGeneration', 'Embed')
  embed(
    message: EmbedRequest,
    _metadata: unknown,
    call: ServerUnaryCall<EmbedRequest, EmbedResponse>,
  ): Promise<EmbedResponse> {
    return this.calls.run(attemptOf(message), call, async signal =>
      encodeEmbedded(await this.embedding.embed(decodeEmbedCall(message), signal)),
    );
  }
}
